import Form, { type FormProps } from '@rjsf/core/lib/components/Form.js'
import { englishStringTranslator, TranslatableString } from '@rjsf/utils'
import { type KeyboardEvent, useEffect, useMemo } from 'react'
import type { JsonSchema } from 'toolpost/gateway'
import { visibleText } from '../text/visible-text.ts'
import { formLayout } from './form-layout.ts'
import { fitsForm, formSchema, UnfitSchemaError } from './form-schema.ts'
import { templates } from './form-templates.tsx'
import { formValidator } from './form-validator.ts'
import { JsonField, NOT_JSON } from './json-field.tsx'

interface Props {
  id: string
  schema: JsonSchema
  args: unknown
  /** Prefix of its field ids, if there may be another form on the page. */
  idPrefix?: string
  /** Titles are for people; a call needs names. */
  labels?: 'names' | 'titles'
  /** Does not add defaults to the arguments. */
  exact: boolean
  /** Validates on every change, not only before a run. */
  checkAlways: boolean
  onChange: (args: unknown) => void
  onRun: (args: unknown) => void
  /** What does not match, e.g. `deviceName is required`; the first one gets the focus. */
  onProblems: (problems: string[]) => void
  /** No form can be shown; `reason` is one sentence. */
  onUnfit: (reason: string) => void
}

/** The form for a tool's arguments, generated from its schema. */
export function SchemaForm({ schema, onUnfit, ...props }: Props) {
  const parts = useMemo(() => formParts(schema), [schema])
  const tooLarge = fitsForm(props.args) ? undefined : 'These arguments are too large for a form.'
  const reason = 'reason' in parts ? parts.reason : tooLarge
  useEffect(() => {
    if (reason !== undefined) onUnfit(reason)
  }, [reason, onUnfit])
  return 'reason' in parts || tooLarge ? null : <FittingForm {...parts} {...props} />
}

type FormParts = Pick<FormProps, 'schema' | 'validator' | 'uiSchema'>

function formParts(schema: JsonSchema): FormParts | { reason: string } {
  try {
    const shown = formSchema(schema)
    return { schema: shown, validator: formValidator(shown), uiSchema: formLayout(schema) }
  } catch (error) {
    return {
      reason: error instanceof UnfitSchemaError ? error.message : 'This schema cannot be shown as a form.',
    }
  }
}

/** Fields without a type are edited as JSON. */
const FIELDS = { FallbackField: JsonField }

/** A new entry starts empty. */
function translated(text: TranslatableString, parameters?: string[]): string {
  return text === TranslatableString.NewStringDefault ? '' : englishStringTranslator(text, parameters)
}

type FittingProps = Omit<Props, 'schema' | 'onUnfit'> & FormParts

function FittingForm({ id, args, exact, checkAlways, onChange, onRun, onProblems, ...rest }: FittingProps) {
  const { idPrefix = 'argument', labels = 'names', ...parts } = rest
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a second way to submit the form, from a text area
    <div className="schema-form" onKeyDown={submitOnControlEnter}>
      <Form
        id={id}
        idPrefix={idPrefix}
        formContext={{ labels }}
        {...parts}
        formData={args}
        templates={templates}
        fields={FIELDS}
        translateString={translated}
        onChange={({ formData }) => onChange(formData ?? {})}
        onSubmit={({ formData }, event) => {
          const wrong = (event.target as HTMLElement).querySelector<HTMLElement>(`[${NOT_JSON}]`)
          if (wrong === null) return onRun(formData ?? {})
          showField(wrong)
          onProblems([`${nameOf(wrong.id, idPrefix)} is not JSON`])
        }}
        onError={errors => onProblems(errors.map(({ stack = '' }) => visibleText(stack.trim())))}
        liveValidate={checkAlways ? 'onChange' : false}
        showErrorList={false}
        focusOnFirstError={({ property = '' }) => showFieldOf(`${idPrefix}${property.replaceAll('.', '_')}`)}
        noHtml5Validate
        removeEmptyOptionalObjects
        useFallbackUiForUnsupportedType
        experimental_defaultFormStateBehavior={{
          emptyObjectFields: exact ? 'skipDefaults' : 'skipEmptyDefaults',
          // Do not preselect the first of several choices.
          constAsDefaults: 'skipOneOf',
          arrayMinItems: { populate: 'requiredOnly' },
        }}
      >
        {/* Replaces the submit button: the run button is outside. */}
        <span hidden />
      </Form>
    </div>
  )
}

/** Focuses the field itself, or the first one inside it, or around it. */
function showFieldOf(id: string): void {
  for (let rest = id; rest !== ''; rest = rest.slice(0, Math.max(0, rest.lastIndexOf('_')))) {
    const place = document.getElementById(rest)
    if (place)
      return showField(
        place.matches(FOCUSABLE) ? place : (place.querySelector<HTMLElement>(FOCUSABLE) ?? place),
      )
  }
}

const FOCUSABLE = 'input, select, textarea, button'

function showField(element: HTMLElement): void {
  element.scrollIntoView({ block: 'center' })
  element.focus({ preventScroll: true })
}

function nameOf(id: string, prefix: string): string {
  return visibleText(id.slice(prefix.length + 1).replaceAll('_', '.'))
}

function submitOnControlEnter(event: KeyboardEvent<HTMLElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
  if (!(event.target instanceof HTMLTextAreaElement)) return
  event.preventDefault()
  event.target.form?.requestSubmit()
}
