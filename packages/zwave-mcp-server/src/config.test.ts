import { describe, expect, it } from 'vitest'
import { ConfigError, checkBrokerUrl, readConfig } from './config.ts'

describe('the configuration', () => {
  it('has defaults for everything, and no broker', () => {
    expect(readConfig({})).toEqual({
      prefix: 'zwave',
      confirmTimeoutMs: 5_000,
      staleMs: 300_000,
      logLevel: 'info',
    })
  })

  it('reads the environment', () => {
    const env = {
      MQTT_BROKER_URL: 'mqtts://broker:8883',
      MQTT_USERNAME: 'me',
      MQTT_PASSWORD: 'secret',
      ZWAVE_MQTT_TOPIC: '/home/zwave/',
      ZWAVE_GATEWAY_NAME: 'office',
      ZWAVE_CONFIRM_TIMEOUT_MS: '200',
      ZWAVE_STALE_MS: '1000',
      ZWAVE_LOG_LEVEL: 'DEBUG',
    }
    expect(readConfig(env)).toEqual({
      brokerUrl: 'mqtts://broker:8883',
      username: 'me',
      password: 'secret',
      prefix: 'home/zwave',
      gatewayName: 'office',
      confirmTimeoutMs: 200,
      staleMs: 1_000,
      logLevel: 'debug',
    })
  })

  it('treats empty variables as unset', () => {
    expect(readConfig({ MQTT_BROKER_URL: ' ', MQTT_USERNAME: '', ZWAVE_MQTT_TOPIC: '' })).toEqual(
      readConfig({}),
    )
  })

  it.each([
    [{ MQTT_BROKER_URL: 'http://broker' }, /mqtt:\/\/host:1883/],
    [{ MQTT_BROKER_URL: 'mqtt://' }, /mqtt:\/\/host:1883/],
    [{ ZWAVE_MQTT_TOPIC: 'zwave/#' }, /plain topic/],
    [{ ZWAVE_CONFIRM_TIMEOUT_MS: '5s' }, /milliseconds/],
    [{ ZWAVE_STALE_MS: '-1' }, /milliseconds/],
    [{ ZWAVE_LOG_LEVEL: 'loud' }, /trace, debug/],
  ])('refuses %j with an explanation', (env, message) => {
    expect(() => readConfig(env)).toThrow(ConfigError)
    expect(() => readConfig(env)).toThrow(message)
  })

  it('accepts a bare host, and a password with a percent sign', () => {
    expect(checkBrokerUrl('broker.local:1883')).toBe('broker.local:1883')
    expect(checkBrokerUrl('mqtt://u:50%off@h')).toBe('mqtt://u:50%off@h')
  })

  it('never shows a password', () => {
    expect(() => checkBrokerUrl('http://me:secret@host')).toThrow(/not "http:\/\/host"/)
  })
})
