import { oneLine } from '../text/visible-text.ts'

/** Why something failed, if it did. */
export function Problem({ text }: { text: string | undefined }) {
  if (text === undefined) return null
  return (
    <p className="field-problem" role="alert">
      {oneLine(text)}
    </p>
  )
}
