-- Load of recommendations for bench/serve_cluster.sh. Arguments: the servers' token, and the folder that has a file
-- "killed" while a server is killed. Each connection pauses before a request, as customers do, so that the load stays
-- below what the machine can do. An answer must be 200 with five items; HAProxy's 502 while a server is killed is an
-- answer that was cut in flight.
local threads = {}

function setup(thread) table.insert(threads, thread) end

function init(args)
   folder, sent, good, cut, bad, example = args[2], 0, 0, 0, 0, ""
   headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. args[1] }
end

function delay() return math.random(5, 35) end

function request()
   sent = sent + 1
   local body = string.format('{"user":"K%02d","basket":["1000"],"k":5}', sent % 59 + 1)
   return wrk.format("POST", "/v1/recommend", headers, body)
end

local function exists(path)
   local file = io.open(path)
   if file then file:close() end
   return file ~= nil
end

function response(status, _, body)
   local _, items = string.gsub(body, '"score"', "")
   if status == 200 and items == 5 then
      good = good + 1
   elseif status == 502 and exists(folder .. "/killed") then
      cut = cut + 1
   else
      bad = bad + 1
      example = string.format("%d %s", status, string.sub(body, 1, 200))
   end
end

function done(summary, latency)
   local n = { good = 0, cut = 0, bad = 0 }
   for _, thread in ipairs(threads) do
      for name in pairs(n) do n[name] = n[name] + thread:get(name) end
      if thread:get("bad") > 0 then print("failed: " .. thread:get("example")) end
   end
   local e = summary.errors
   print(string.format("%8d answers to wrk, %.0f/s; median %.1f ms, p99 %.1f ms, longest %.0f ms", n.good,
      n.good / summary.duration * 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000))
   print(string.format("%8d answers to wrk cut in flight", n.cut))
   print(string.format("%8d answers to wrk failed", n.bad + e.connect + e.read + e.write + e.timeout))
end
