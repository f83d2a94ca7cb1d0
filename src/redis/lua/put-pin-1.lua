-- Compare-and-set: written when the stored version is at most the expected one, or the key is absent or deleted.
--
-- KEYS[1]  key of the pin
-- ARGV[1]  expected version, 0: never seen
-- ARGV[2]  milliseconds until it ends, 0: never
-- ARGV[3]  worker ids, with a "\n" between them
-- ARGV[4]  channel for changes
-- ARGV[5]  name of the pin in messages
-- Answer   {1, value written} or {0, value that holds}
--
-- One that loses puts off the end as touch does, since its asker uses the pin from now on. Nothing is published when the key was absent and not expected: nobody can hold another pin for it then.

local version, ids, value = stored_pin(KEYS[1])
local expected = tonumber(ARGV[1])
if not is_of_store(expected) then expected = 0 end
if version and ids ~= '' and version > expected then
  put_off_end(KEYS[1], ARGV[2])
  return { 0, value }
end

local written = pin_value(version_above(version, expected), '\n' .. ARGV[3])
write_pin(KEYS[1], written, ARGV[2])
if version or expected > 0 then publish_change(ARGV[4], ARGV[5], written) end
return { 1, written }
