const starts = new WeakMap<Request, number>()

/** Notes when a request began: the SDK hands only the request itself to its handlers. */
export function began(request: Request, startedAt: number): void {
  starts.set(request, startedAt)
}

/** When the calls in a request began, on the executor's clock; `undefined` if that is not known. */
export function startOf(request: Request | undefined): number | undefined {
  return request && starts.get(request)
}
