import Form from '@rjsf/core/lib/components/Form.js'
import type { RJSFSchema } from '@rjsf/utils'
import { type KeyboardEvent, useMemo } from 'react'
import type { JsonSchema } from '../api/types.ts'
import { formLayout } from './form-layout.ts'
import { templates } from './form-templates.tsx'
import { formValidator } from './form-validator.ts'

interface Props {
  id: string
  schema: JsonSchema
  args: unknown
  /** Adds no defaults to the arguments. */
  exact: boolean
  /** Checks at every change, not only before a run. */
  checkAlways: boolean
  onChange: (args: unknown) => void
  onRun: (args: unknown) => void
  onProblems: (count: number) => void
}

/** The form of a tool's arguments, made from its schema. */
export function SchemaForm({ id, schema, args, exact, checkAlways, onChange, onRun, onProblems }: Props) {
  const shown = useMemo(() => withoutHeading(schema), [schema])
  const layout = useMemo(() => formLayout(schema), [schema])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a second way to submit the form, from a text area
    <div className="schema-form" onKeyDown={submitOnControlEnter}>
      <Form
        id={id}
        idPrefix="argument"
        schema={shown}
        uiSchema={layout}
        formData={args}
        validator={formValidator}
        templates={templates}
        onChange={({ formData }) => onChange(formData ?? {})}
        onSubmit={({ formData }) => onRun(formData ?? {})}
        onError={errors => onProblems(errors.length)}
        liveValidate={checkAlways ? 'onChange' : false}
        showErrorList={false}
        focusOnFirstError
        noHtml5Validate
        removeEmptyOptionalObjects
        useFallbackUiForUnsupportedType
        experimental_defaultFormStateBehavior={{
          emptyObjectFields: exact ? 'skipDefaults' : 'skipEmptyDefaults',
          arrayMinItems: { populate: 'requiredOnly' },
        }}
      >
        {/* The run button stands outside. */}
        <span hidden />
      </Form>
    </div>
  )
}

/** The tool's own title and description stand above the form already. */
function withoutHeading(schema: JsonSchema): RJSFSchema {
  const { title: _, description: __, ...rest } = schema
  return { type: 'object', ...rest } as RJSFSchema
}

function submitOnControlEnter(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
  if (!(event.target instanceof HTMLTextAreaElement)) return
  event.preventDefault()
  event.target.form?.requestSubmit()
}
