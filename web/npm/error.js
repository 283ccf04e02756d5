// A run without a result.
export class RecastError extends Error {
  name = "RecastError";

  constructor(message, { cause, errors = [], report = null } = {}) {
    super(message, { cause });
    this.errors = errors;
    this.report = report;
  }
}
