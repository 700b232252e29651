/** Whether two words differ only by two swapped neighbouring letters, the most common typo. */
export function hasSwap(said: string, meant: string): boolean {
  if (said.length !== meant.length) return false
  const at = [...said].findIndex((letter, index) => letter !== meant[index])
  const swapped = said.slice(0, at) + said.charAt(at + 1) + said.charAt(at) + said.slice(at + 2)
  return swapped === meant
}
