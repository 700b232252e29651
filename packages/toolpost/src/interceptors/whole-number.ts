/** The value of an option; throws if it is not a whole number of at least `minimum`. */
export function wholeNumber(value: number, minimum: number, name: string): number {
  if (Number.isInteger(value) && value >= minimum) return value
  throw new RangeError(`${name} must be a whole number, at least ${minimum}; got ${String(value)}`)
}
