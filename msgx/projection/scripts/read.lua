-- All shown flights of a complete projection, or nothing (R15, INV-24). The api's.
-- KEYS: epoch, flights, environment. ARGV: format, "read" or "probe", environment or nothing (R50).
-- One script sees one instant: the server's run_id, the epoch and the values belong together.
-- A missing hash is an empty projection only because the epoch vouches for it.
local run_id = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
local epoch = redis.call('GET', KEYS[1])
local owner = redis.call('GET', KEYS[3])
if owner and ARGV[3] ~= '' and owner ~= ARGV[3] then
  return false
end
if not run_id or epoch ~= run_id .. ':' .. ARGV[1] then
  return false
end
if ARGV[2] == 'probe' then
  return {}
end
return redis.call('HVALS', KEYS[2])
