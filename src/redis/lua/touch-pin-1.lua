-- Puts off the end of a pin, never brings it nearer, and never changes the pin. The trace of a deleted key ends when it would.
--
-- KEYS[1]  key of the pin
-- ARGV[1]  milliseconds until it ends, 0: never
-- Answer   value, or nil when absent

local version, ids, value = stored_pin(KEYS[1])
if not version then return false end

if ids ~= '' then put_off_end(KEYS[1], ARGV[1]) end
return value
