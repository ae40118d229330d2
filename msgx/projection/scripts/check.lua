-- Tell whether this server holds a complete projection of ours. Another environment is not ours to judge (R50).
-- KEYS: epoch, term, environment. ARGV: term, format, environment.
local owner = redis.call('GET', KEYS[3])
if owner and owner ~= ARGV[3] then return 'FOREIGN' end
local term = tonumber(redis.call('GET', KEYS[2]) or '-1')
if term > tonumber(ARGV[1]) then return 'DEPOSED' end
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
if term < tonumber(ARGV[1]) or redis.call('GET', KEYS[1]) ~= run .. ':' .. ARGV[2] then return 'INCOMPLETE' end
return 'OK'
