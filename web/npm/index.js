export { RecastError } from "./error.js";
export { convert, diff, fix, fold, inspect, lint, precision } from "./operations.js";
export { run, version } from "./run.js";
