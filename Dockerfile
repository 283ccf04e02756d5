# The command as a static binary in an empty image:
#   docker build --tag recast .
#   docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/models" recast lint .
FROM rust:1.95-slim-bookworm AS build
# The allocator is C.
RUN apt-get update -qq && apt-get install -qq --yes --no-install-recommends musl-tools
WORKDIR /source
COPY . .
RUN target=$(uname -m)-unknown-linux-musl \
    && rustup target add "$target" \
    && cargo build --locked --profile dist --bin recast --target "$target" \
    && cp "target/$target/dist/recast" /recast

FROM scratch
COPY --from=build /source/LICENSE /LICENSE
COPY --from=build /recast /recast
# Not root. The option --user names the owner of the files that a run writes.
USER 65532:65532
WORKDIR /models
ENTRYPOINT ["/recast"]
CMD ["--help"]
