-- Deletes a pin. A trace with a higher version stays for an hour, so that late offers of earlier versions lose.
--
-- KEYS[1]  key of the pin
-- ARGV[1]  channel for changes
-- ARGV[2]  name of the pin in messages
-- Answer   1 when there was a pin, else 0
--
-- The trace is written and published in any case: a replica may hold a pin that is not stored here.

local version, ids = stored_pin(KEYS[1])
local trace = pin_value(version_above(version, 0), '')
write_pin(KEYS[1], trace, '3600000')
publish_change(ARGV[1], ARGV[2], trace)
return version and ids ~= '' and 1 or 0
