FROM debian:12
RUN true

RUN echo out of luck; exit 3
