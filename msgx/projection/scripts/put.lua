-- Set or remove flights, each only if the given version is not older than the stored one (R15): a stale writer
-- cannot win. KEYS: flights, versions, epoch, term. ARGV: term, format, then flid, version, json ('' removes).
local term = tonumber(redis.call('GET', KEYS[4]) or '-1')
if term > tonumber(ARGV[1]) then return 'DEPOSED' end
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
if term < tonumber(ARGV[1]) or redis.call('GET', KEYS[3]) ~= run .. ':' .. ARGV[2] then return 'INCOMPLETE' end
for i = 3, #ARGV, 3 do
  local stored = tonumber(redis.call('HGET', KEYS[2], ARGV[i]) or '0')
  if stored <= tonumber(ARGV[i + 1]) then
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
    if ARGV[i + 2] == '' then
      redis.call('HDEL', KEYS[1], ARGV[i])
    else
      redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2])
    end
  end
end
return 'OK'
