# syntax=docker/dockerfile:1
ARG BASE=debian
FROM --platform=linux/amd64 ${BASE}:12 AS only
ARG GREETING="hello world"
ARG TARGETARCH
ENV APP_HOME=/srv/app QUOTED="two words" DOLLAR='$HOME costs $5'
ENV OLD style with spaces
ENV PATH=/srv/bin:$PATH
ENV PATH=/srv/more:$PATH
WORKDIR /srv
WORKDIR app
COPY --chown=user --chmod=0640 backends/e2b/testdata/context/*.txt ./
COPY backends/e2b/testdata/context/sub ${APP_HOME}/copied
COPY ["backends/e2b/testdata/context/a.txt", "/srv/named file.txt"]
COPY backends/e2b/testdata/context/sub/deep backends/e2b/testdata/context/sub/link several/
COPY <<EOF <<"RAW" /srv/docs/
greeting=$GREETING
EOF
raw=$GREETING
RAW
RUN echo "$GREETING $TARGETARCH" > run.txt && echo "$PATH" > path.txt
RUN ["/bin/sh", "-c", "echo exec $0 > exec.txt", "it's"]
RUN <<EOF
set -e
echo first > heredoc.txt
echo second \
  >> heredoc.txt
EOF
RUN cat <<ONE > one.txt
$APP_HOME
ONE
RUN <<EOF
#!/bin/bash
[[ 1 == 1 ]] && echo shebang > shebang.txt
EOF
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
RUN [[ 1 == 1 ]] && echo bash > shell.txt
LABEL a=b
EXPOSE 80
ENTRYPOINT ["/never"]
CMD ["run"]
USER user
RUN id -un > /home/user/who.txt
