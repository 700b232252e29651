import type { VoiceConfig } from 'toolpost/config'
import type { BrokerAccess } from '../bus/mqtt-client.ts'

/** The broker from the configuration, else from the environment, else from the example home; undefined if none. */
export function chooseBroker(
  config: VoiceConfig['mqtt'],
  home: { brokerUrl: string } | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): BrokerAccess | undefined {
  if (config?.url) return { ...config, url: config.url }
  const { MQTT_BROKER_URL: url, MQTT_USERNAME: username, MQTT_PASSWORD: password } = environment
  if (url) return { username, password, ...config, url }
  return home && { ...config, url: home.brokerUrl }
}
