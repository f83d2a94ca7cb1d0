-- Puts off the end of a pin, never brings it nearer, and never changes the pin. The trace of a deleted key ends when it would.
--
-- KEYS[1]  key of the pin
-- ARGV[1]  milliseconds until it ends, 0: never
-- Answer   value, or nil when absent

local version, ids, value = stored_pin(KEYS[1])
if not version then return false end

if ids ~= '' then
  local ttl_ms = tonumber(ARGV[1])
  if ttl_ms == 0 then
    redis.call('PERSIST', KEYS[1])
  elseif redis.call('PTTL', KEYS[1]) < ttl_ms then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
  end
end
return value
