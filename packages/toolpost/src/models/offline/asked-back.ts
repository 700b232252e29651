/*
 * Questions back to the user, worded so that the answer can be matched to them.
 */

export const DID_YOU_MEAN = /Did you mean "([^"]{1,500})"\?$/

/** Must match `DID_YOU_MEAN`, so that a yes is understood. */
export function didYouMean(sentence: string): string {
  return `Did you mean "${sentence}"?`
}

export const WHAT_TO_DO = /^What should I do with (.{1,200})\?$/

/** Asked if the user says only a name. */
export function whatToDoWith(name: string): string {
  return `What should I do with ${name}?`
}
