import type {
  ArrayFieldItemTemplateProps,
  ArrayFieldTemplateProps,
  FieldTemplateProps,
  ObjectFieldTemplateProps,
  RJSFSchema,
  TemplatesType,
  WrapIfAdditionalTemplateProps,
} from '@rjsf/utils'
import { ADDITIONAL_PROPERTY_FLAG, buttonId, canExpand, descriptionId } from '@rjsf/utils'
import { Button } from '../components/button.tsx'
import { visibleText } from '../text/visible-text.ts'

/* How the form looks. Names are made visible here, titles and descriptions by `formSchema`. */

function Field(props: FieldTemplateProps) {
  const { id, label, children, errors, hidden, required, displayLabel, schema, rawDescription } = props
  if (hidden) return <div hidden>{children}</div>
  const name = nameOf(props)
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
      {displayLabel && rawDescription && (
        <p id={descriptionId(id)} className="field-description">
          {rawDescription}
        </p>
      )}
      {errors}
    </Additional>
  )
}

/** Titles and no types: whoever fills it in need not know what a call looks like. */
function isForPeople({ formContext }: FieldTemplateProps['registry']): boolean {
  return formContext.labels === 'titles'
}

/** The argument's own name, which is what a call needs; a title often only spells it with spaces. */
function nameOf({ fieldPathId, label, registry }: FieldTemplateProps): string {
  if (isForPeople(registry)) return label
  const last = fieldPathId?.path.at(-1)
  if (typeof last === 'number') return `Item ${last + 1}`
  return last ?? label
}

function typeOf(schema: RJSFSchema): string {
  const { type, format, minimum, maximum } = schema
  if (schema.enum) return 'choice'
  const range = minimum !== undefined && maximum !== undefined ? ` ${minimum}–${maximum}` : ''
  return `${[type].flat().filter(Boolean).join(' or ')}${format ? `, ${format}` : ''}${range}`
}

/** An argument that the schema does not name: its name can be edited, and it can be removed. */
function Additional({
  children,
  classNames = '',
  id,
  label,
  schema,
  ...rest
}: WrapIfAdditionalTemplateProps) {
  const { onKeyRenameBlur, onRemoveProperty, rawErrors = [] } = rest
  const className = `field ${rawErrors.length > 0 ? 'field-wrong' : ''} ${classNames}`
  if (!(ADDITIONAL_PROPERTY_FLAG in schema)) return <div className={className}>{children}</div>
  return (
    <div className={`${className} field-additional`}>
      <div className="field">
        <label className="field-label" htmlFor={`${id}-key`}>
          <span className="field-name">Name</span>
        </label>
        <input key={label} id={`${id}-key`} type="text" defaultValue={label} onBlur={onKeyRenameBlur} />
      </div>
      <div className="field">{children}</div>
      <Button look="quiet" id={buttonId(id, 'remove')} onClick={onRemoveProperty}>
        Remove
      </Button>
    </div>
  )
}

function ObjectField({ title, description, properties, fieldPathId, ...rest }: ObjectFieldTemplateProps) {
  const { schema, uiSchema, formData, onAddProperty, disabled } = rest
  const isRoot = fieldPathId.path.length === 0
  const expandable = canExpand(schema, uiSchema, formData)
  if (properties.length === 0 && !expandable && isRoot) return null
  return (
    <fieldset className={isRoot ? 'fields' : 'fields fields-inner'} id={fieldPathId.$id}>
      {!isRoot && title && <legend>{visibleText(String(fieldPathId.path.at(-1) ?? title))}</legend>}
      {isRoot && <legend className="visually-hidden">Arguments</legend>}
      {!isRoot && description && <p className="field-description">{description}</p>}
      {properties.map(property => property.content)}
      {expandable && (
        <Button look="quiet" disabled={disabled} onClick={onAddProperty}>
          Add an argument
        </Button>
      )}
    </fieldset>
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
      {schema.description && <p className="field-description">{schema.description}</p>}
      {items}
      {canAdd && (
        <Button look="quiet" id={buttonId(fieldPathId, 'add')} disabled={disabled} onClick={onAddClick}>
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
}
