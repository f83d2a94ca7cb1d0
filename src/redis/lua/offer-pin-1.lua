-- Gives back a pin that may have been lost, with its version: written when the key is absent or of a lower version.
--
-- KEYS[1]  key of the pin
-- ARGV[1]  version of the pin
-- ARGV[2]  milliseconds until it ends, 0: never
-- ARGV[3]  worker ids, with a "\n" between them
-- ARGV[4]  channel for changes
-- ARGV[5]  name of the pin in messages
-- Answer   {1, value written} or {0, value that holds}
--
-- Published also when the key was absent: another replica may hold a lower version than the offered one.

local version, _, value = stored_pin(KEYS[1])
local offered = tonumber(ARGV[1])
if not is_of_store(offered) then return redis.error_reply('ERR the version is ahead of the clock') end
if version and version >= offered then return { 0, value } end

local written = pin_value(offered, '\n' .. ARGV[3])
write_pin(KEYS[1], written, ARGV[2])
publish_change(ARGV[4], ARGV[5], written)
return { 1, written }
