/** A change from a letter to a digit, or from one case to the other. */
const CHANGE = /[a-z](?=[A-Z\d])|[A-Z](?=[a-z\d])|\d(?=[A-Za-z])/g
const MIN_CHANGES = 4

/** Whether a setting looks like a key: a long part that mixes letters and digits, and not a path or a version. */
export function looksRandom(text: string): boolean {
  if (text.length < 16 || text.length > 10_000 || !/^[\w.~+/=-]+$/.test(text) || /^[./~]/.test(text))
    return false
  return text.split(/[-_.~+/=]/).some(part => part.length >= 10 && isMixed(part))
}

function isMixed(part: string): boolean {
  const changes = part.match(CHANGE)?.length ?? 0
  return changes >= MIN_CHANGES && (part.match(/\d/g)?.length ?? 0) >= 2 && new Set(part).size >= 7
}
