-- What all scripts of pins share; it stands before each of them.
--
-- A value is "1" version *( "\n" worker-id ), see pin-record.ts. Versions are whole numbers below 2^53, which the numbers
-- of Lua hold exactly; tostring() would round them to 14 digits, so they are always formatted.

-- How far a version may be ahead of the clock, in microseconds, see store-clock.ts.
local MAX_AHEAD = 86400000000

-- Microseconds since 1970. A write after TIME needs a server that replicates what scripts did, not the scripts: Redis 5 and newer.
local function clock()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local function is_of_store(version)
  return version <= clock() + MAX_AHEAD
end

-- Version, ids (each after a "\n"; none: a deleted key) and whole value of a key. Nil when it is absent or holds what was
-- not written here: that is overwritten by the next claim.
local function stored_pin(key)
  local value = redis.pcall('GET', key)
  if type(value) == 'table' then
    if string.sub(value.err, 1, 9) == 'WRONGTYPE' then return nil end
    error(value.err)
  end
  if not value then return nil end
  local digits, ids = string.match(value, '^1([1-9]%d*)(.*)$')
  local version = tonumber(digits)
  if not version or not is_of_store(version) then return nil end
  if ids ~= '' then
    if string.sub(ids, 1, 1) ~= '\n' or string.sub(ids, -1) == '\n' then return nil end
    if string.find(ids, '\n\n', 1, true) then return nil end
  end
  return version, ids, value
end

-- Microseconds of the clock, or one more than the higher of both when the clock is not above them.
local function version_above(stored, expected)
  return math.max(clock(), math.max(stored or 0, expected) + 1)
end

local function pin_value(version, ids)
  return string.format('1%.0f', version) .. ids
end

local function write_pin(key, value, ttl_ms)
  if ttl_ms == '0' then
    redis.call('SET', key, value)
  else
    redis.call('SET', key, value, 'PX', ttl_ms)
  end
end

-- Never brings it nearer.
local function put_off_end(key, ttl_ms)
  if ttl_ms == '0' then
    redis.call('PERSIST', key)
  elseif redis.call('PTTL', key) < tonumber(ttl_ms) then
    redis.call('PEXPIRE', key, ttl_ms)
  end
end

local function publish_change(channel, name, value)
  redis.call('PUBLISH', channel, '1' .. name .. '\n' .. string.sub(value, 2))
end
