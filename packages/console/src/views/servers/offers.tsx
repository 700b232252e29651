import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { getPrompt, listOffers, type Offer, readResource } from '../../api/gateway.ts'
import { isRecord } from '../../api/http.ts'
import { counted } from '../../text/figures.ts'
import { oneLine } from '../../text/visible-text.ts'
import { Blocks } from '../../ui/content.tsx'
import { Button, Pending, Problem, Section } from '../../ui/controls.tsx'
import { ValueView } from '../../ui/value-view.tsx'

/** The resources and prompts of a server, to be opened. */
export function Offers({ server }: { server: string }) {
  const { data, error } = useQuery({
    queryKey: ['offers', server],
    queryFn: () => listOffers(server),
    staleTime: 0,
  })
  if (!data) return <Pending label="Loading" error={error} />
  const { prompts } = data
  const resources = [...data.resources, ...data.templates]
  if (resources.length + prompts.length === 0) return <p className="text-muted">None at the moment.</p>
  return (
    <div className="flex flex-col gap-5">
      {resources.length > 0 && (
        <Section title={counted(resources.length, 'resource')}>
          <List offers={resources} isPrompt={false} />
        </Section>
      )}
      {prompts.length > 0 && (
        <Section title={counted(prompts.length, 'prompt')}>
          <List offers={prompts} isPrompt />
        </Section>
      )}
    </div>
  )
}

function List({ offers, isPrompt }: { offers: readonly Offer[]; isPrompt: boolean }) {
  return (
    <ul className="card divide-y divide-line">
      {offers.slice(0, 200).map(offer => (
        <li key={offer.uri ?? offer.uriTemplate ?? offer.name} className="flex flex-col gap-2 p-3">
          <OfferItem offer={offer} isPrompt={isPrompt} />
        </li>
      ))}
    </ul>
  )
}

/** A variable of a template: `{name}`, `{+path}` … */
const VARIABLE = /\{[+#./;?&]?([^{}]{1,60})\}/g

interface Blank {
  name: string
  description?: string | undefined
}

/** What must be filled in first: a prompt's arguments, or the variables of a template. */
function blanksOf({ uriTemplate, arguments: args }: Offer): Blank[] {
  if (uriTemplate === undefined) return args ?? []
  return [...uriTemplate.matchAll(VARIABLE)].map(([, name = '']) => ({ name }))
}

function OfferItem({ offer, isPrompt }: { offer: Offer; isPrompt: boolean }) {
  const [given, setGiven] = useState<Record<string, string>>({})
  const address = offer.uri ?? offer.uriTemplate ?? ''
  const opening = useMutation({
    mutationFn: () => {
      if (isPrompt) return getPrompt(offer.name, given)
      return readResource(address.replace(VARIABLE, (_, name) => encodeURIComponent(given[name] ?? '')))
    },
  })
  return (
    <>
      <form
        className="flex flex-wrap items-center gap-2"
        onSubmit={event => {
          event.preventDefault()
          opening.mutate()
        }}
      >
        <div className="mr-auto min-w-0">
          <p className="font-medium">{oneLine(offer.title ?? offer.name, 100)}</p>
          <p className="text-xs break-all text-muted">{oneLine(offer.description ?? address)}</p>
        </div>
        {blanksOf(offer).map(({ name, description }) => (
          <input
            key={name}
            className="control w-40"
            aria-label={oneLine(name, 60)}
            placeholder={oneLine(name, 60)}
            title={oneLine(description ?? '')}
            onChange={event => setGiven({ ...given, [name]: event.target.value })}
          />
        ))}
        <Button type="submit" aria-label={`Open ${oneLine(offer.title ?? offer.name, 60)}`}>
          Open
        </Button>
      </form>
      <Problem text={opening.error?.message} />
      {opening.isSuccess && <Opened value={opening.data} />}
    </>
  )
}

/** Contents of a resource are shown like those of a result; messages of a prompt as they are. */
function Opened({ value }: { value: unknown }) {
  const contents = Array.isArray(value) && value.every(part => isRecord(part) && typeof part.uri === 'string')
  if (!contents) return <ValueView value={value} label="Content" />
  return <Blocks blocks={value.map(resource => ({ type: 'resource', resource }))} />
}
