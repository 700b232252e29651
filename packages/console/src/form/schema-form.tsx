import Form from '@rjsf/core/lib/components/Form.js'
import { englishStringTranslator, TranslatableString, type ValidatorType } from '@rjsf/utils'
import { type KeyboardEvent, useMemo } from 'react'
import type { JsonSchema } from 'toolpost/gateway'
import { fitsSchema, formLayout, formSchema } from './form-schema.ts'
import { JsonField, NOT_JSON, templates, widgets } from './theme.tsx'

interface Props {
  id: string
  schema: JsonSchema
  args: unknown
  /** Titles are for people; a call needs names. */
  labels?: 'names' | 'titles'
  onChange: (args: Record<string, unknown>) => void
  onSubmit: (args: Record<string, unknown>) => void
}

/** The gateway validates; here it only matters which of several alternatives a value is. */
const VALIDATOR: ValidatorType = {
  validateFormData: () => ({ errors: [], errorSchema: {} }),
  isValid: (schema, value) => value !== undefined && fitsSchema(schema, value),
  rawValidation: () => ({ errors: [] }),
}

const DEFAULTS = {
  emptyObjectFields: 'skipEmptyDefaults',
  constAsDefaults: 'skipOneOf',
  arrayMinItems: { populate: 'requiredOnly' },
} as const

/** The form for a tool's arguments, generated from its schema; nothing if `formKind` is not `form`. */
export function SchemaForm({ id, schema, args, labels = 'names', onChange, onSubmit }: Props) {
  const shown = useMemo(() => formSchema(schema), [schema])
  const layout = useMemo(() => formLayout(schema), [schema])
  if (!shown) return null
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a second way to submit the form, from a text area
    <div onKeyDown={submitOnControlEnter}>
      <Form
        id={id}
        idPrefix={id}
        schema={shown}
        uiSchema={layout}
        validator={VALIDATOR}
        formContext={{ labels }}
        formData={args}
        templates={templates}
        widgets={widgets}
        fields={{ FallbackField: JsonField }}
        translateString={translated}
        onChange={({ formData }) => onChange(formData ?? {})}
        onSubmit={({ formData }, event) => {
          const wrong = (event.target as HTMLElement).querySelector<HTMLElement>(`[${NOT_JSON}]`)
          if (wrong) wrong.focus()
          else onSubmit(formData ?? {})
        }}
        showErrorList={false}
        noHtml5Validate
        noValidate
        removeEmptyOptionalObjects
        useFallbackUiForUnsupportedType
        experimental_defaultFormStateBehavior={DEFAULTS}
      >
        {/* Replaces the submit button: the run button is outside. */}
        <span hidden />
      </Form>
    </div>
  )
}

/** A new entry starts empty. */
function translated(text: TranslatableString, parameters?: string[]): string {
  return text === TranslatableString.NewStringDefault ? '' : englishStringTranslator(text, parameters)
}

function submitOnControlEnter(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  event.currentTarget.querySelector('form')?.requestSubmit()
}
