FROM debian:12 AS build
RUN true
FROM debian:12
COPY --from=build /x /x
