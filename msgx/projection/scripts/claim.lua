-- Store the term of a new writer; a higher one that is there refuses it (R15). KEYS: term. ARGV: term.
if tonumber(redis.call('GET', KEYS[1]) or '-1') > tonumber(ARGV[1]) then return 'DEPOSED' end
redis.call('SET', KEYS[1], ARGV[1])
return 'OK'
