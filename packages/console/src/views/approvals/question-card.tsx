import { useMutation } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import type { QuestionAnswer } from 'toolpost'
import type { JsonSchema, OpenQuestion } from 'toolpost/gateway'
import { answerQuestion } from '../../api/gateway.ts'
import { isRecord } from '../../api/http.ts'
import { clipped, oneLine, visibleText } from '../../text/visible-text.ts'
import { Button, Facts, Notice, Problem, Spinner, TimeLeft } from '../../ui/controls.tsx'
import { lazily } from '../../ui/lazily.ts'
import { webAddress } from '../../ui/web-link.tsx'
import { useSettled } from './approval-card.tsx'

const SchemaForm = lazily(() => import('../../form/schema-form.tsx'), 'SchemaForm')

/** A question from a tool or its server, and the ways to answer it. The gateway checks the answer. */
export function QuestionCard({ question }: { question: OpenQuestion }) {
  const { message, tool, server, caller, url, expiresAt, secretFields = [] } = question
  const [content, setContent] = useState<Record<string, unknown>>({})
  const isReady = useSettled(question.id)
  const form = formOf(question)
  const required = Array.isArray(question.schema?.required) ? question.schema.required : []
  const isUnanswerable = secretFields.some(name => required.includes(name))
  const answering = useMutation({
    mutationFn: (answer: QuestionAnswer) => answerQuestion(question.id, answer),
  })
  const send = (answer: QuestionAnswer) => isReady && answering.mutate(answer)
  const accept = (given: Record<string, unknown>) =>
    send({ action: 'accept', ...(form && { content: given }) })
  const page = url === undefined ? undefined : webAddress(url)
  return (
    <div className="flex flex-col gap-3 p-4">
      <p className="break-words whitespace-pre-wrap">{clipped(message, 4_000)}</p>
      <Facts
        facts={{
          Server: server && oneLine(server, 80),
          Tool: tool && oneLine(tool, 80),
          'Called by': caller && oneLine(caller, 80),
          'Expires in': <TimeLeft until={expiresAt} />,
        }}
      />
      {secretFields.length > 0 && (
        <Notice tone="warn">
          It asks for {oneLine(secretFields.join(', '), 200)}, which looks like a secret. Servers may not ask
          for secrets this way, so {isUnanswerable ? 'it can only be declined' : 'these fields are left out'}.
        </Notice>
      )}
      {url !== undefined && (
        <Notice tone={page ? 'plain' : 'warn'}>
          <span className="break-all">
            {page ? `Open this page, if you trust ${new URL(page).host}: ` : 'This is not a web address: '}
            <code>{visibleText(page ?? url)}</code>
          </span>
        </Notice>
      )}
      {form && !isUnanswerable && (
        <Suspense fallback={<Spinner label="Loading the form" />}>
          <SchemaForm
            id="answer"
            schema={form}
            args={content}
            labels="titles"
            onChange={setContent}
            onSubmit={accept}
          />
        </Suspense>
      )}
      <Problem text={answering.error?.message} />
      <div className="row justify-end">
        <Button look="quiet" aria-disabled={!isReady} onClick={() => send({ action: 'cancel' })}>
          Cancel
        </Button>
        <Button aria-disabled={!isReady} onClick={() => send({ action: 'decline' })}>
          Decline
        </Button>
        {!isUnanswerable && (url === undefined || page) && (
          <Button
            look="primary"
            aria-disabled={!isReady}
            onClick={() => {
              if (page && isReady) window.open(page, '_blank', 'noopener,noreferrer')
              accept(content)
            }}
          >
            {page ? 'Open the page' : form ? 'Send' : 'Yes'}
          </Button>
        )}
      </div>
    </div>
  )
}

/** The fields to fill in, without secrets; `undefined` if there are none. */
function formOf({ schema, secretFields = [] }: OpenQuestion): JsonSchema | undefined {
  const properties = isRecord(schema?.properties) ? schema.properties : {}
  const asked = Object.entries(properties).filter(([name]) => !secretFields.includes(name))
  if (!schema || asked.length === 0) return undefined
  return {
    ...schema,
    properties: Object.fromEntries(asked.map(([name, field]) => [name, withTitles(field)])),
  }
}

/** Choices with titles: `enumNames` is the legacy way to give them; several choices become checkboxes. */
function withTitles(field: unknown): unknown {
  if (!isRecord(field)) return field
  const { enumNames, enum: values, ...rest } = field
  if (field.type === 'array' && isRecord(field.items))
    return { ...field, uniqueItems: true, items: withTitles(field.items) }
  if (!Array.isArray(values) || !Array.isArray(enumNames)) return field
  return {
    ...rest,
    oneOf: values.map((value, at) => ({ const: value, title: String(enumNames[at] ?? value) })),
  }
}
