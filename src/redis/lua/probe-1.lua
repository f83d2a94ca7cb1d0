-- Does all that scripts of pins do, so that a server or a user that refuses them is found by a probe; tells one life of the data
-- from the next.
--
-- KEYS[1]  key of the epoch
-- ARGV[1]  epoch to begin with when there is none
-- Answer   {the epoch, milliseconds of the clock}
--
-- One key and no more, as two of one slot cannot be had while a Cluster moves it. Nobody hears what is published.

local epoch = redis.pcall('GET', KEYS[1])
if type(epoch) == 'table' then
  -- Somebody else's value gives way.
  if string.sub(epoch.err, 1, 9) ~= 'WRONGTYPE' then error(epoch.err) end
  epoch = false
end
epoch = epoch or ARGV[1]
local time = redis.call('TIME')
redis.call('SET', KEYS[1], epoch, 'PX', '5000')
redis.call('PTTL', KEYS[1])
redis.call('PEXPIRE', KEYS[1], '5000')
redis.call('PERSIST', KEYS[1])
redis.call('PUBLISH', KEYS[1], '')
return { epoch, string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)) }
