import { describe, expect, it } from 'vitest'
import { findTargetFault, mayConnectTo, readAllowance } from '../../../src/domain/webhooks/targets.ts'

const allow = (list: string) => readAllowance(list).allowance
const nobody = allow('')

describe('the URL of an endpoint', () => {
  it.each([
    'https://example.com/hook',
    'https://example.com:8443/hook?token=1',
    'https://example.com:80/',
    'https://93.184.215.14/',
    'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
    'HTTPS://EXAMPLE.com',
  ])('may be %s', (url) => expect(findTargetFault(nobody, url)).toBeUndefined())

  it.each([
    ['url', ['', 'example.com', 'https://', '//example.com', 'https://exa mple.com']],
    ['scheme', ['http://example.com', 'ftp://example.com', 'gopher://example.com', 'ws://example.com']],
    ['credentials', ['https://user@example.com', 'https://user:password@example.com', 'https://:password@example.com']],
    ['port', ['https://example.com:22', 'https://example.com:25', 'https://example.com:0', 'https://example.com:1023']],
    [
      'host',
      [
        ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.0.0.1.', '0.0.0.0', '10.1.2.3', '172.16.0.1'],
        ...[
          '192.168.1.1',
          '169.254.169.254',
          '100.64.0.1',
          '224.0.0.1',
          '255.255.255.255',
          '192.0.2.1',
          '198.18.0.1',
          '240.0.0.1',
        ],
        ...['[::1]', '[::]', '[fe80::1]', '[fd00::1]', '[ff02::1]', '[::ffff:127.0.0.1]', '[::ffff:10.0.0.1]', '[::127.0.0.1]'],
        ...['[2002:7f00:1::]', '[64:ff9b::7f00:1]', '[64:ff9b:1::1]', '[2001::1]', '[2001:db8::1]', '[fec0::1]', '[100::1]'],
        ...['[4000::1]', '[::ffff:0:127.0.0.1]', '%31%32%37.0.0.1', '１２７.0.0.1'],
      ].map((host) => `https://${host}/`),
    ],
  ])('is rejected for its %s', (fault, urls) => {
    expect(urls.map((url) => [url, findTargetFault(nobody, url)])).toEqual(urls.map((url) => [url, fault]))
  })
})

describe('WEBHOOK_ALLOW', () => {
  const inside = allow('hooks.internal, 10.1.0.0/16, 127.0.0.1, [fd00::1], fd01::/64')

  it.each([
    'http://hooks.internal/',
    'https://hooks.internal:8080/',
    'http://10.1.2.3:8080/',
    'http://127.0.0.1:9999/',
    'http://[fd00::1]/',
    'http://[fd01::ffff]/',
  ])('allows %s', (url) => expect(findTargetFault(inside, url)).toBeUndefined())

  it.each([
    ['scheme', 'http://other.internal/'],
    ['scheme', 'http://a.hooks.internal/'],
    ['host', 'http://10.2.0.1/'],
    ['host', 'http://localhost:8080/'],
    ['port', 'http://hooks.internal:22/'],
    ['credentials', 'http://a:b@hooks.internal/'],
    ['host', 'https://127.0.0.2/'],
    ['host', 'https://[::ffff:10.1.2.3]/'],
    ['host', 'https://[fd01:0:0:1::1]/'],
  ])('allows nothing else: %s of %s', (fault, url) => expect(findTargetFault(inside, url)).toBe(fault))

  it('allows names that resolve into an allowed network, but not over HTTP', () => {
    expect(mayConnectTo(inside, '10.1.9.9')).toBe(true)
    expect(findTargetFault(inside, 'http://example.com/')).toBe('scheme')
  })

  it.each([
    '10.0.0.0/33',
    '10/8',
    '010.0.0.0/8',
    '0x7f000000/8',
    'a b',
    'http://hooks.internal',
    'hooks.internal:80',
    '-a',
    'a..b',
  ])('reports an unreadable entry: %s', (entry) =>
    expect(readAllowance(`127.0.0.1, ${entry}`)).toMatchObject({ unreadable: [entry] }),
  )
})

it("connects to nothing that isn't an IP address", () => {
  expect(['', 'localhost', '127.1', '0x7f.0.0.1', 'fe80::1%eth0'].filter((text) => mayConnectTo(nobody, text))).toEqual([])
})
