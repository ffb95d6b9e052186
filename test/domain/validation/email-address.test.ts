import { describe, expect, it } from 'vitest'
import { isEmailAddress, isPlainAddress, needsSmtpUtf8, toStoredAddress } from '../../../src/domain/validation/email-address.ts'

describe('an address with international letters', () => {
  it.each([
    ['sam@bücher.example', 'sam@xn--bcher-kva.example'],
    ['Sam@BÜCHER.example', 'Sam@xn--bcher-kva.example'],
    ['sam@bu\u0308cher.example', 'sam@xn--bcher-kva.example'],
    ['sam@例え.テスト', 'sam@xn--r8jz45g.xn--zckzah'],
    ['Jörg@example.com', 'jörg@example.com'],
    ['jo\u0308rg@bücher.example', 'jörg@xn--bcher-kva.example'],
    ['I\u0316\u0307b@example.com', 'i\u0316\u0307b@example.com'],
    ['用户@例子.测试', '用户@xn--fsqu00a.xn--0zwm56d'],
    ['सैम@example.com', 'सैम@example.com'],
  ])('is valid as %s, and stored as %s', (given, stored) => {
    expect([isEmailAddress(given), toStoredAddress(given)]).toEqual([true, stored])
    expect([isEmailAddress(stored), toStoredAddress(stored)]).toEqual([true, stored])
    expect([isPlainAddress(given), needsSmtpUtf8(stored)]).toEqual([false, !isPlainAddress(stored)])
  })

  it.each([
    'sam@bücher',
    'sam@ü/x.example',
    'sam@ü:80.example',
    'sam@%C3%BC.example',
    'sam@ü ber.example',
    'sam@\u200büber.example',
    '@bücher.example',
    'sam@@bücher.example',
    'jö rg@example.com',
    'jö\u00a0rg@example.com',
    'jö\u202erg@example.com',
    'jö\ud800rg@example.com',
    'jö"rg@example.com',
    '.jörg@example.com',
    `${'ö'.repeat(33)}@example.com`,
    `sam@${'ü'.repeat(63)}.example`,
    // These domains are invalid, so the address would differ between its forms.
    'sam@xn--ü.example',
    'ü@xn--ü.example',
    'sam@1א.example',
    'sam@\u0301ü.example',
    // Normalization or lower case turns these letters into plain ones, so it would become somebody else's address.
    'sam\u212a@example.com',
    '\u0130sam@example.com',
  ])('is invalid as %j', (given) => expect(isEmailAddress(given)).toBe(false))

  it('leaves a plain address, or text that is no address, unchanged', () => {
    for (const text of ['Sam@Example.COM', 'Sam@XN--Bcher-Kva.Example', 'plain', '', 'ü', 'sam@ü/x', 'ü@'])
      expect(toStoredAddress(text)).toBe(text)
  })
})
