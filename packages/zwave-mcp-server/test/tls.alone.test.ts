import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { Aedes } from 'aedes'
import { expect, it, onTestFinished } from 'vitest'
import { hasOpenssl } from './support/brokers.ts'
import { startServer } from './support/server.ts'

async function tlsBroker() {
  const folder = mkdtempSync(join(tmpdir(), 'zwave-tls-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const made = spawnSync('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '1',
    '-keyout',
    key,
    '-out',
    cert,
    ...subject,
  ])
  expect(made.status).toBe(0)
  const broker = await Aedes.createBroker()
  const server = createServer(
    { key: readFileSync(key), cert: readFileSync(cert) },
    socket => void broker.handle(socket),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    broker.close()
  })
  const address = server.address()
  return { url: `mqtts://localhost:${address && typeof address === 'object' ? address.port : 0}`, cert }
}

it.runIf(hasOpenssl)(
  'connects through TLS to a broker whose certificate it trusts, and to no other',
  async () => {
    const { url, cert } = await tlsBroker()
    const trusting = await startServer({ MQTT_BROKER_URL: url, NODE_EXTRA_CA_CERTS: cert })
    expect((await trusting.call('check_zwave_health')).data).toMatchObject({ broker: { connected: true } })
    const wary = await startServer({ MQTT_BROKER_URL: url })
    expect((await wary.call('check_zwave_health')).text).toMatch(/unreachable: self[- ]signed certificate/)
  },
)
