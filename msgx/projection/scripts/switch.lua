-- Make the filled keys the projection, at once, and mark it complete (R15). A missing or other term refuses.
-- KEYS: flights, versions, epoch, term, new flights, new versions. ARGV: term, format.
local term = redis.call('GET', KEYS[4])
if not term or tonumber(term) > tonumber(ARGV[1]) then return 'DEPOSED' end
if tonumber(term) ~= tonumber(ARGV[1]) then return 'INCOMPLETE' end
if redis.call('EXISTS', KEYS[5]) == 1 then
  redis.call('RENAME', KEYS[5], KEYS[1])
else
  redis.call('DEL', KEYS[1])
end
-- Versions of flights that exist no more stay: they still refuse a stale writer.
local fresh = redis.call('HGETALL', KEYS[6])
for i = 1, #fresh, 2 do
  local stored = tonumber(redis.call('HGET', KEYS[2], fresh[i]) or '0')
  if stored < tonumber(fresh[i + 1]) then redis.call('HSET', KEYS[2], fresh[i], fresh[i + 1]) end
end
redis.call('DEL', KEYS[6])
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
redis.call('SET', KEYS[3], run .. ':' .. ARGV[2])
return 'OK'
