import { Suspense, useMemo, useState } from 'react'
import type { OpenQuestion } from 'toolpost/gateway'
import type { QuestionAnswer } from '../../api/gateway-api.ts'
import { Button } from '../../components/button.tsx'
import { Loading } from '../../components/empty-state.tsx'
import { Facts } from '../../components/facts.tsx'
import { lazyPart } from '../../components/lazy-part.ts'
import { answers } from '../../state/answers.ts'
import { useStore } from '../../state/store.ts'
import { clipped, oneLine } from '../../text/visible-text.ts'
import { TimeLeft } from '../approvals/approval-card.tsx'
import { useFocusBack, useSettled } from '../approvals/steady.ts'
import { hostOf, type QuestionForm, questionForm } from './question-form.ts'

const SchemaForm = lazyPart(async () => (await import('../../schema/schema-form.tsx')).SchemaForm)

const FORM_ID = 'question-form'

type Send = (answer: QuestionAnswer) => void

/** A question from a tool or its server, and the ways to answer it. */
export function QuestionCard({ question }: { question: OpenQuestion }) {
  const { server, tool, caller, message, url, expiresAt } = question
  const box = useFocusBack<HTMLDivElement>()
  const form = useMemo(() => questionForm(question), [question])
  const mark = useStore(answers, state => state.marks.get(question.id))
  const isReady = useSettled(question.id) && mark !== 'sending'
  const send: Send = answer => {
    if (isReady) void answers.send(question, answer)
  }
  return (
    <div ref={box} className="approval card" role="dialog" aria-labelledby="question-title">
      <div className="approval-head">
        <h2 id="question-title">
          {server === undefined ? 'A tool asks' : <code>{oneLine(server, 80)}</code>}
          {server !== undefined && (url === undefined ? ' asks' : ' wants you to open a page')}
        </h2>
      </div>
      <p className="question-message">{clipped(message, 4_000)}</p>
      <Facts
        facts={{
          Tool: tool && oneLine(tool, 80),
          'Called by': caller && oneLine(caller, 80),
          'Expires in': <TimeLeft until={expiresAt} />,
        }}
      />
      {url !== undefined && <Address url={url} />}
      {form && <Form form={form} send={send} />}
      {typeof mark === 'object' && (
        <p className="notice notice-bad" role="alert">
          {mark.problem}
        </p>
      )}
      <div className="approval-decide">
        <Button aria-disabled={!isReady} look="quiet" onClick={() => send({ action: 'cancel' })}>
          Cancel
        </Button>
        <Button aria-disabled={!isReady} onClick={() => send({ action: 'decline' })}>
          Decline
        </Button>
        <Accept url={url} form={form} isReady={isReady} send={send} />
      </div>
    </div>
  )
}

interface AcceptProps {
  url: string | undefined
  form: QuestionForm | undefined
  isReady: boolean
  send: Send
}

/** The page opens only on a click, in a tab that cannot access this one. */
function Accept({ url, form, isReady, send }: AcceptProps) {
  const host = url === undefined ? undefined : hostOf(url)
  if (url !== undefined)
    return host && isReady ? (
      <a
        className="button button-primary"
        href={url}
        target="_blank"
        rel="noopener noreferrer"
        onClick={() => send({ action: 'accept' })}
      >
        Open {oneLine(host, 60)}
      </a>
    ) : null
  if (form?.isUnanswerable) return null
  return (
    <Button
      aria-disabled={!isReady}
      look="primary"
      {...(form ? { type: 'submit', form: FORM_ID } : { onClick: () => send({ action: 'accept' }) })}
    >
      {form ? 'Send' : 'Yes'}
    </Button>
  )
}

function Address({ url }: { url: string }) {
  const host = hostOf(url)
  return (
    <>
      {host && <p className="question-host">{oneLine(host, 200)}</p>}
      <code className="question-address">{oneLine(url, 4_000)}</code>
      <p className="notice notice-warn">
        {host
          ? 'This page belongs to the server, not to Toolpost. Check the address before you open it.'
          : 'This is not a web address, so it cannot be opened here.'}
      </p>
    </>
  )
}

function Form({ form: { schema, secrets, isUnanswerable }, send }: { form: QuestionForm; send: Send }) {
  const [content, setContent] = useState<unknown>({})
  const [problems, setProblems] = useState(0)
  const [unfit, setUnfit] = useState<string>()
  return (
    <>
      {secrets.length > 0 && (
        <p className="notice notice-warn">
          It also asks for {oneLine(secrets.join(', '), 200)}. Servers must not ask for secrets this way, so
          the form leaves it out{isUnanswerable ? ': this question can only be declined.' : '.'}
        </p>
      )}
      {unfit && <p className="notice notice-warn">{unfit} It can only be declined.</p>}
      {!isUnanswerable && !unfit && (
        <Suspense fallback={<Loading label="Loading the form" rows={2} />}>
          <SchemaForm
            id={FORM_ID}
            idPrefix="answer"
            labels="titles"
            schema={schema}
            args={content}
            exact={false}
            checkAlways={problems > 0}
            onChange={setContent}
            onRun={filled => send({ action: 'accept', content: filled })}
            onProblems={problems => setProblems(problems.length)}
            onUnfit={setUnfit}
          />
        </Suspense>
      )}
    </>
  )
}
