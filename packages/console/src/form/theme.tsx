import type {
  ArrayFieldItemTemplateProps,
  ArrayFieldTemplateProps,
  BaseInputTemplateProps,
  FieldProps,
  FieldTemplateProps,
  MultiSchemaFieldTemplateProps,
  ObjectFieldTemplateProps,
  RegistryWidgetsType,
  RJSFSchema,
  TemplatesType,
  WidgetProps,
  WrapIfAdditionalTemplateProps,
} from '@rjsf/utils'
import { ADDITIONAL_PROPERTY_FLAG, canExpand, getInputProps } from '@rjsf/utils'
import { Plus } from 'lucide-react'
import { isValidElement, type ReactNode, useEffect, useState } from 'react'
import { parsedJson } from '../text/json-text.ts'
import { oneLine, visibleText } from '../text/visible-text.ts'
import { Button, IconButton } from '../ui/controls.tsx'
import { Select } from '../ui/select.tsx'
import { cellText } from '../ui/value-view.tsx'

/* How forms look. Titles and descriptions were made safe by `formSchema`; names are here. */

function isForPeople({ formContext }: { formContext: { labels?: string } }): boolean {
  return formContext.labels === 'titles'
}

/** The argument's name, which is what a call needs; a title often only spells it with spaces. */
function nameOf(path: readonly (string | number)[] | undefined, label: string): string {
  const last = path?.at(-1)
  if (typeof last === 'number') return `Item ${last + 1}`
  return visibleText(last ?? label)
}

function typeOf(schema: RJSFSchema): string {
  const { type, minimum, maximum } = schema
  if (schema.enum || type === 'boolean') return ''
  if (type === undefined) return schema.anyOf || schema.oneOf ? '' : 'JSON'
  const range = minimum !== undefined && maximum !== undefined ? ` ${minimum}–${maximum}` : ''
  return `${[type].flat().join(' or ')}${range}`
}

function Field(props: FieldTemplateProps) {
  const { id, label, children, required, displayLabel, schema, rawDescription, registry } = props
  const forPeople = isForPeople(registry)
  const isAdditional = ADDITIONAL_PROPERTY_FLAG in schema
  const name = isAdditional ? 'Value' : forPeople ? label : nameOf(props.fieldPathId?.path, label)
  return (
    <Additional {...props}>
      {displayLabel && (
        <label className="row mb-1 gap-1.5" htmlFor={id}>
          <span className="font-medium">{name}</span>
          {!forPeople && <span className="text-xs text-muted">{typeOf(schema)}</span>}
          {!required && !isAdditional && <span className="text-xs text-muted">optional</span>}
        </label>
      )}
      {children}
      {displayLabel && rawDescription && <Description text={rawDescription} />}
    </Additional>
  )
}

function Description({ text }: { text: string }) {
  return <p className="mt-1 text-xs break-words whitespace-pre-wrap text-muted">{text}</p>
}

/** An argument that the schema does not name: its name can be edited, and it can be removed. */
function Additional(props: WrapIfAdditionalTemplateProps) {
  const { children, id, label, schema, onKeyRename, onKeyRenameBlur, onRemoveProperty } = props
  const isAdditional = ADDITIONAL_PROPERTY_FLAG in schema
  // The form package makes up a name; the person who adds the entry knows the right one.
  const isMadeUp = isAdditional && /^newKey(?:-\d+)?$/.test(label)
  useEffect(() => {
    if (isMadeUp) onKeyRename('')
  }, [isMadeUp, onKeyRename])
  if (!isAdditional) return <div className="min-w-0">{children}</div>
  return (
    <div className="flex items-start gap-2">
      <div className="w-1/3">
        <label className="mb-1 block font-medium" htmlFor={`${id}-key`}>
          Name
        </label>
        <input
          key={label}
          id={`${id}-key`}
          className="control"
          defaultValue={label}
          onBlur={onKeyRenameBlur}
        />
      </div>
      <div className="min-w-0 flex-1">{children}</div>
      <IconButton label={`Remove ${oneLine(label, 60)}`} className="mt-6" onClick={onRemoveProperty} />
    </div>
  )
}

interface GroupProps {
  title: string
  description?: string | undefined
  children: ReactNode
}

function Group({ title, description, children }: GroupProps) {
  return (
    <fieldset className="flex flex-col gap-3 border-l-2 border-line pl-3">
      <legend className="float-left mb-1 font-medium">{title}</legend>
      {description && <Description text={description} />}
      {children}
    </fieldset>
  )
}

function ObjectField(props: ObjectFieldTemplateProps) {
  const { title, properties, fieldPathId, schema, uiSchema, formData, onAddProperty } = props
  const isRoot = fieldPathId.path.length === 0
  const isOpen = canExpand(schema, uiSchema, formData) && !(formData && Object.hasOwn(formData, ''))
  const fields = (
    <>
      {properties.map(property => property.content)}
      {isOpen && (
        <Button look="quiet" icon={Plus} className="self-start" onClick={onAddProperty}>
          {isRoot ? 'Add an argument' : 'Add an entry'}
        </Button>
      )}
    </>
  )
  if (isRoot) return <div className="flex flex-col gap-4">{fields}</div>
  return (
    <Group title={nameOf(fieldPathId.path, title)} description={schema.description}>
      {fields}
    </Group>
  )
}

function ArrayField({ title, items, canAdd, onAddClick, fieldPathId, schema }: ArrayFieldTemplateProps) {
  return (
    <Group title={nameOf(fieldPathId.path, title)} description={schema.description}>
      {items}
      {canAdd && (
        <Button look="quiet" icon={Plus} className="self-start" onClick={onAddClick}>
          Add an item
        </Button>
      )}
    </Group>
  )
}

function ArrayItem({ children, buttonsProps, index }: ArrayFieldItemTemplateProps) {
  return (
    <div className="flex items-start gap-2">
      <div className="min-w-0 flex-1">{children}</div>
      {buttonsProps.hasRemove && (
        <IconButton label={`Remove item ${index + 1}`} onClick={buttonsProps.onRemoveItem} />
      )}
    </div>
  )
}

/** The types that an argument may have, and the field of the chosen one. */
function Choices({ selector, optionSchemaField }: MultiSchemaFieldTemplateProps) {
  return (
    <div className="flex flex-col gap-2">
      {isValidElement(selector) && selector}
      {optionSchemaField}
    </div>
  )
}

function Input({ id, value, onChange, schema, type, options, readonly }: BaseInputTemplateProps) {
  const { step, ...given } = getInputProps(schema, type, options)
  return (
    <input
      id={id}
      name={id}
      className="control"
      {...given}
      // A browser must not refuse what the tool may accept.
      step={step === undefined ? undefined : 'any'}
      disabled={readonly}
      value={value ?? ''}
      autoComplete="off"
      onChange={event => onChange(event.target.value === '' ? undefined : event.target.value)}
    />
  )
}

function TextAreaWidget({ id, value, onChange }: WidgetProps) {
  return (
    <textarea
      id={id}
      name={id}
      className="control"
      rows={4}
      value={value ?? ''}
      onChange={event => onChange(event.target.value === '' ? undefined : event.target.value)}
    />
  )
}

function CheckboxWidget({ id, value, onChange, label, schema, registry }: WidgetProps) {
  const name = isForPeople(registry) ? label : (id.split('_').at(-1) ?? label)
  return (
    <>
      <label className="row font-medium" htmlFor={id}>
        <input
          id={id}
          type="checkbox"
          className="size-4 accent-accent"
          checked={value === true}
          onChange={event => onChange(event.target.checked)}
        />
        {visibleText(name)}
      </label>
      {schema.description && <Description text={schema.description} />}
    </>
  )
}

/** Values may be of any type, so a choice is known by its place. */
function SelectWidget(props: WidgetProps) {
  const { id, value, options, onChange, label, required, multiple } = props
  const choices = options.enumOptions ?? []
  if (multiple) return <Checkboxes {...props} />
  // Which of several schemas a value follows: one of them always applies.
  const isAlternative = /__(?:any|one)of_select$/.test(id)
  const at = choices.findIndex(choice => JSON.stringify(choice.value) === JSON.stringify(value))
  const shown = choices.map((choice, index) => ({
    value: String(index),
    label: oneLine(String(choice.label || cellText(choice.value)), 100),
  }))
  return (
    <Select
      id={id}
      label={visibleText(label || id.split('_').at(-1) || 'Choice')}
      value={at < 0 ? '' : String(at)}
      options={required || at < 0 || isAlternative ? shown : [{ value: '', label: 'Not set' }, ...shown]}
      onChange={next => onChange(next === '' ? undefined : choices[Number(next)]?.value)}
    />
  )
}

/** Several of some distinct values. */
function Checkboxes({ id, value, options, onChange }: WidgetProps) {
  const chosen: unknown[] = Array.isArray(value) ? value : []
  return (
    <div className="flex flex-wrap gap-x-4 gap-y-1" id={id}>
      {(options.enumOptions ?? []).map(choice => {
        const others = chosen.filter(one => one !== choice.value)
        return (
          <label key={String(choice.label)} className="row">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              checked={others.length < chosen.length}
              onChange={event => onChange(event.target.checked ? [...others, choice.value] : others)}
            />
            {oneLine(String(choice.label), 100)}
          </label>
        )
      })}
    </div>
  )
}

/** Marks a field whose text is not valid JSON; such a form is not submitted. */
export const NOT_JSON = 'data-not-json'

/** An argument that the schema says nothing about: any JSON. A constant is used as is. */
export function JsonField({ id, schema, formData, fieldPathId, onChange }: FieldProps) {
  const isFixed = 'const' in schema
  const [text, setText] = useState(() => (formData === undefined ? '' : JSON.stringify(formData, null, 2)))
  const isWrong = text.trim() !== '' && parsedJson(text) === undefined
  const isGiven = JSON.stringify(formData) === JSON.stringify(schema.const)
  useEffect(() => {
    if (isFixed && !isGiven) onChange(schema.const, fieldPathId.path)
  }, [isFixed, isGiven, schema, fieldPathId, onChange])
  if (isFixed) return <code>{cellText(schema.const)}</code>
  return (
    <>
      <textarea
        id={id ?? fieldPathId.$id}
        className="control font-mono text-xs"
        rows={Math.min(10, Math.max(2, text.split('\n').length))}
        spellCheck={false}
        placeholder={'"text", 7, true, [ … ], { … }'}
        value={text}
        aria-invalid={isWrong}
        {...(isWrong && { [NOT_JSON]: '' })}
        onChange={event => {
          setText(event.target.value)
          onChange(parsedJson(event.target.value)?.value, fieldPathId.path)
        }}
      />
      {isWrong && <p className="text-xs text-bad">This is not valid JSON. Put text in double quotes.</p>}
    </>
  )
}

export const templates: Partial<TemplatesType> = {
  FieldTemplate: Field,
  WrapIfAdditionalTemplate: Additional,
  ObjectFieldTemplate: ObjectField,
  ArrayFieldTemplate: ArrayField,
  ArrayFieldItemTemplate: ArrayItem,
  MultiSchemaFieldTemplate: Choices,
  BaseInputTemplate: Input,
}

export const widgets: RegistryWidgetsType = {
  TextareaWidget: TextAreaWidget,
  CheckboxWidget,
  SelectWidget,
}
