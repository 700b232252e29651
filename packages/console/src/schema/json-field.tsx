import type { FieldProps } from '@rjsf/utils'
import { useEffect, useState } from 'react'
import { visibleText } from '../text/visible-text.ts'

/** Marks a field whose text is not valid JSON; such a form is not submitted. */
export const NOT_JSON = 'data-not-json'

/** An argument that the schema says nothing about: any JSON. A constant is used as is. */
export function JsonField(props: FieldProps) {
  return 'const' in props.schema ? <FixedValue {...props} /> : <JsonText {...props} />
}

function JsonText({ id, formData, fieldPathId, onChange, required, disabled }: FieldProps) {
  const [text, setText] = useState(() => (formData === undefined ? '' : JSON.stringify(formData, null, 2)))
  const isWrong = parsed(text) === undefined && text.trim() !== ''
  const fieldId = id ?? fieldPathId.$id
  const take = (next: string) => {
    setText(next)
    onChange(parsed(next)?.value, fieldPathId.path)
  }
  return (
    <>
      <textarea
        id={fieldId}
        className="json-input"
        rows={Math.min(10, Math.max(2, text.split('\n').length))}
        spellCheck={false}
        placeholder={'JSON: "text", 7, true, [ … ], { … }'}
        required={required}
        disabled={disabled}
        value={text}
        aria-invalid={isWrong}
        aria-describedby={isWrong ? `${fieldId}-json` : undefined}
        {...(isWrong && { [NOT_JSON]: '' })}
        onChange={event => take(event.target.value)}
      />
      {isWrong && (
        <p id={`${fieldId}-json`} className="field-problem">
          This is not valid JSON. Put text in double quotes.
        </p>
      )}
    </>
  )
}

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

/** Choosing it sets the value: there is nothing to fill in. */
function FixedValue({ schema, formData, fieldPathId, onChange }: FieldProps) {
  const value: unknown = schema.const
  const isGiven = JSON.stringify(formData) === JSON.stringify(value)
  useEffect(() => {
    if (!isGiven) onChange(value, fieldPathId.path)
  }, [isGiven, value, fieldPathId, onChange])
  return <p className="field-fixed mono">{visibleText(JSON.stringify(value) ?? '')}</p>
}
