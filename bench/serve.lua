-- Requests to POST /v1/recommend for wrk: 499 different users and baskets of three, in turn. The first
-- argument is 1 for answers with reasons, the second the server's token, empty if it has none; a third, "paced", lets
-- each connection pause for some milliseconds before a request.
local requests, next_one = {}, 0

function init(args)
   local explain = args[1] == "1" and ',"explain":true' or ""
   local headers = { ["Content-Type"] = "application/json" }
   if args[3] == "paced" then delay = function() return math.random(1, 9) end end
   if args[2] and args[2] ~= "" then headers["Authorization"] = "Bearer " .. args[2] end
   for i = 1, 499 do
      local a, b, c = i * 7 % 2000, i * 131 % 2000, i * 1013 % 2000
      local body = string.format('{"user":"%d","basket":["%d","%d","%d"],"k":10%s}', i % 200, a, b, c, explain)
      requests[i] = wrk.format("POST", nil, headers, body)
   end
end

function request()
   next_one = next_one % 499 + 1
   return requests[next_one]
end
