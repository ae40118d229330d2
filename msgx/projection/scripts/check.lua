-- Tell whether this server holds a complete projection of ours. KEYS: epoch, term. ARGV: term, format.
local term = tonumber(redis.call('GET', KEYS[2]) or '-1')
if term > tonumber(ARGV[1]) then return 'DEPOSED' end
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
if term < tonumber(ARGV[1]) or redis.call('GET', KEYS[1]) ~= run .. ':' .. ARGV[2] then return 'INCOMPLETE' end
return 'OK'
