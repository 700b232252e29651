/** The text without these characters at its end. A pattern (`/\/+$/`) would restart at each of them: quadratic. */
export function trimmedEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}
