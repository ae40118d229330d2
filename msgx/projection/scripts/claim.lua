-- Store the term of a new writer; a higher one that is there refuses it (R15), and so does another environment (R50).
-- KEYS: term, environment. ARGV: term, environment.
local owner = redis.call('GET', KEYS[2])
if owner and owner ~= ARGV[2] then return 'FOREIGN' end
if tonumber(redis.call('GET', KEYS[1]) or '-1') > tonumber(ARGV[1]) then return 'DEPOSED' end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], ARGV[2])
return 'OK'
