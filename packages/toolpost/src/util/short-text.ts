/** The beginning of a text of any length, for a message that a person or a model reads. */
export function shortText(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}…`
}
