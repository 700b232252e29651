import type {
  ArrayFieldItemTemplateProps,
  ArrayFieldTemplateProps,
  FieldTemplateProps,
  MultiSchemaFieldTemplateProps,
  ObjectFieldTemplateProps,
  RJSFSchema,
  TemplatesType,
  WrapIfAdditionalTemplateProps,
} from '@rjsf/utils'
import { ADDITIONAL_PROPERTY_FLAG, buttonId, canExpand, descriptionId } from '@rjsf/utils'
import { isValidElement, useEffect } from 'react'
import { isRecord } from '../api/guards.ts'
import { Button } from '../components/button.tsx'
import { Markdown } from '../components/markdown/markdown.tsx'
import { visibleText } from '../text/visible-text.ts'
import { PATTERN_PREFIX } from './pattern-format.ts'

/* How the form looks. Names are escaped here, titles and descriptions by `formSchema`. */

function Field(props: FieldTemplateProps) {
  const { id, label, children, errors, hidden, required, displayLabel, schema, rawDescription } = props
  if (hidden) return <div hidden>{children}</div>
  const name = ADDITIONAL_PROPERTY_FLAG in schema ? 'Value' : nameOf(props)
  const isItem = typeof props.fieldPathId?.path.at(-1) === 'number'
  return (
    <Additional {...props}>
      {displayLabel && (
        <label className="field-label" htmlFor={id}>
          <span className="field-name">{visibleText(name)}</span>
          {!isForPeople(props.registry) && <span className="field-type">{typeOf(schema)}</span>}
          {required && !isItem && <span className="field-required">required</span>}
          {label !== name && label && !isItem && <span className="visually-hidden">{label}</span>}
        </label>
      )}
      {children}
      {displayLabel && rawDescription && <Description id={descriptionId(id)} text={rawDescription} />}
      {errors}
    </Additional>
  )
}

/** Titles instead of names, and no types: people need not know what a call looks like. */
function isForPeople({ formContext }: FieldTemplateProps['registry']): boolean {
  return formContext.labels === 'titles'
}

/** The argument's name, which is what a call needs; a title often only spells it with spaces. */
function nameOf({ fieldPathId, label, registry }: FieldTemplateProps): string {
  if (isForPeople(registry)) return label
  const last = fieldPathId?.path.at(-1)
  if (typeof last === 'number') return `Item ${last + 1}`
  return last ?? label
}

function typeOf(schema: RJSFSchema): string {
  const { type, format, minimum, maximum } = schema
  if (schema.enum) return 'choice'
  if (type === undefined && (schema.anyOf || schema.oneOf)) return 'one of several types'
  if (type === undefined && schema.const === undefined) return 'any JSON'
  const range = minimum !== undefined && maximum !== undefined ? ` ${minimum}–${maximum}` : ''
  return `${[type].flat().filter(Boolean).join(' or ')}${format && !format.startsWith(PATTERN_PREFIX) ? `, ${format}` : ''}${range}`
}

/** The form package's name for a new entry. */
const NEW_KEY = /^newKey(?:-\d+)?$/

/** An argument that the schema does not name: its name can be edited, and it can be removed. */
function Additional({
  children,
  classNames = '',
  id,
  label,
  schema,
  ...rest
}: WrapIfAdditionalTemplateProps) {
  const { onKeyRename, onKeyRenameBlur, onRemoveProperty, rawErrors = [] } = rest
  const isNew = ADDITIONAL_PROPERTY_FLAG in schema && NEW_KEY.test(label)
  // The form package makes up a name; the person adding the entry knows the right one.
  useEffect(() => {
    if (isNew) onKeyRename('')
  }, [isNew, onKeyRename])
  const className = `field ${rawErrors.length > 0 ? 'field-wrong' : ''} ${classNames}`
  if (!(ADDITIONAL_PROPERTY_FLAG in schema)) return <div className={className}>{children}</div>
  return (
    <div className={`${className} field-additional`}>
      <div className="field">
        <label className="field-label" htmlFor={`${id}-key`}>
          <span className="field-name">Name</span>
        </label>
        <input
          key={label}
          id={`${id}-key`}
          type="text"
          placeholder="name"
          defaultValue={label}
          onBlur={onKeyRenameBlur}
          // biome-ignore lint/a11y/noAutofocus: after adding an entry, its name is typed next
          autoFocus={label === ''}
        />
      </div>
      <div className="field">{children}</div>
      <Button look="quiet" id={buttonId(id, 'remove')} onClick={onRemoveProperty}>
        Remove
      </Button>
    </div>
  )
}

function ObjectField({ title, description, properties, fieldPathId, ...rest }: ObjectFieldTemplateProps) {
  const { schema, uiSchema, formData, onAddProperty, disabled, required } = rest
  const isRoot = fieldPathId.path.length === 0
  const expandable = canExpand(schema, uiSchema, formData)
  if (properties.length === 0 && !expandable && isRoot) return null
  return (
    <fieldset className={isRoot ? 'fields' : 'fields fields-inner'} id={fieldPathId.$id}>
      {!isRoot && title && (
        <legend>
          <span className="field-name">{legendOf(fieldPathId.path.at(-1) ?? title)}</span>
          <span className="field-type">object</span>
          {required && <span className="field-required">required</span>}
        </legend>
      )}
      {isRoot && <legend className="visually-hidden">Arguments</legend>}
      {!isRoot && typeof description === 'string' && <Description text={description} />}
      {properties.map(property => property.content)}
      {expandable && !hasNewEntry(formData) && (
        <Button look="quiet" icon="add" disabled={disabled} onClick={onAddProperty}>
          {isRoot ? 'Add an argument' : 'Add an entry'}
        </Button>
      )}
    </fieldset>
  )
}

/** Whether there is an entry without a name; only one is allowed at a time. */
function hasNewEntry(formData: unknown): boolean {
  return isRecord(formData) && Object.hasOwn(formData, '')
}

function legendOf(name: string | number): string {
  return typeof name === 'number' ? `Item ${name + 1}` : visibleText(name)
}

function Description({ id, text }: { id?: string; text: string }) {
  return (
    <div id={id} className="field-description">
      <Markdown text={text} first={600} />
    </div>
  )
}

/** The types that an argument may have, and the field of the chosen one. */
function Choices({ selector, optionSchemaField }: MultiSchemaFieldTemplateProps) {
  const { id, label } = isValidElement<{ id?: string; label?: string }>(selector) ? selector.props : {}
  return (
    <div className="choices">
      {id && (
        <label className="visually-hidden" htmlFor={id}>
          {`Type of ${visibleText(label ?? 'value')}`}
        </label>
      )}
      {selector}
      {optionSchemaField}
    </div>
  )
}

function ArrayField({ title, items, canAdd, onAddClick, fieldPathId, ...rest }: ArrayFieldTemplateProps) {
  const { schema, required, disabled } = rest
  const name = fieldPathId.path.at(-1) ?? title
  return (
    <fieldset className="fields fields-inner" id={fieldPathId.$id}>
      <legend>
        <span className="field-name">{visibleText(String(name))}</span>
        <span className="field-type">list</span>
        {required && <span className="field-required">required</span>}
      </legend>
      {schema.description && <Description text={schema.description} />}
      {items}
      {canAdd && (
        <Button
          look="quiet"
          icon="add"
          id={buttonId(fieldPathId, 'add')}
          disabled={disabled}
          onClick={onAddClick}
        >
          Add an item
        </Button>
      )}
    </fieldset>
  )
}

function ArrayItem({ children, buttonsProps, hasToolbar, index }: ArrayFieldItemTemplateProps) {
  const { hasRemove, onRemoveItem, disabled } = buttonsProps
  return (
    <div className="array-item">
      <div className="array-item-field">{children}</div>
      {hasToolbar && hasRemove && (
        <Button
          look="quiet"
          disabled={disabled}
          onClick={onRemoveItem}
          aria-label={`Remove item ${index + 1}`}
        >
          Remove
        </Button>
      )}
    </div>
  )
}

export const templates: Partial<TemplatesType> = {
  FieldTemplate: Field,
  WrapIfAdditionalTemplate: Additional,
  ObjectFieldTemplate: ObjectField,
  ArrayFieldTemplate: ArrayField,
  ArrayFieldItemTemplate: ArrayItem,
  MultiSchemaFieldTemplate: Choices,
}
