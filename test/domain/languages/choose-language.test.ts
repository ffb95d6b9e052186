import { expect, it } from 'vitest'
import {
  chooseCandidateLanguage,
  chooseMemberLanguage,
  chooseVisitorLanguage,
  type LanguageSources,
  matchLanguage,
  readAcceptLanguage,
} from '../../../src/domain/languages/choose-language.ts'

const CODES = ['en', 'de', 'es', 'fr', 'pt-BR', 'ar']
const languages = { codes: CODES, reviewed: ['en', 'de'] }

/** Sources of the language in order of precedence. Each has a different language. */
const RULES = ['fixed', 'chosen', 'invite', 'browser', 'assessment', 'organization'] as const
type Rules = Partial<Record<(typeof RULES)[number], string>>
const EVERY: Required<Rules> = {
  fixed: 'ar',
  chosen: 'fr',
  invite: 'es',
  browser: 'pt-PT',
  assessment: 'de',
  organization: 'en',
}
const MEANT: Required<Rules> = { ...EVERY, browser: 'pt-BR' }

const inviteWith = (rules: Rules, languagesOffered: string[] = CODES): LanguageSources => ({
  language: rules.invite ?? null,
  chosenLanguage: rules.chosen ?? null,
  assessment: {
    interfaceLanguage: rules.fixed ?? null,
    languages: rules.assessment === undefined ? [] : [{ language: { code: rules.assessment } }],
  },
  organization: { language: rules.organization ?? 'xx', languagesOffered },
})
const onPage = (rules: Rules, offered?: string[]) =>
  chooseCandidateLanguage(languages, inviteWith(rules, offered), readAcceptLanguage(rules.browser))
const inMail = (rules: Rules, offered?: string[]) => chooseCandidateLanguage(languages, inviteWith(rules, offered))
const without = (stronger: readonly string[]): Rules =>
  Object.fromEntries(Object.entries(EVERY).filter(([rule]) => !stronger.includes(rule)))

it.each(RULES.map((rule, place) => [rule, RULES.slice(0, place)] as const))(
  'applies the rule "%s" if no stronger rule is set, and not if one is',
  (rule, stronger) => {
    expect(onPage(without(stronger))).toBe(MEANT[rule])
    expect(onPage({ [rule]: EVERY[rule] })).toBe(MEANT[rule])
    if (rule === 'browser') expect(inMail(without(stronger))).toBe(MEANT.assessment)
    else expect(inMail(without(stronger))).toBe(MEANT[rule])
    for (const before of stronger)
      expect(onPage({ [before]: EVERY[before], [rule]: EVERY[rule] })).toBe(MEANT[before as keyof Rules])
  },
)

it('falls back to English, and ignores unknown or unoffered languages', () => {
  expect(onPage({})).toBe('en')
  expect(onPage({ chosen: 'ja', invite: 'deutsch', browser: 'zh-CN', assessment: 'fr' })).toBe('fr')
  expect(onPage({ chosen: 'fr', organization: 'de' }, ['de', 'en'])).toBe('de')
  expect(onPage({ browser: 'fr', organization: 'de' }, ['de', 'en'])).toBe('de')
})

it("uses the assessment's languages, even if the organization doesn't offer them generally", () => {
  expect(onPage({ fixed: 'fr', organization: 'de' }, ['de', 'en'])).toBe('fr')
  expect(onPage({ browser: 'fr', assessment: 'fr', organization: 'de' }, ['de', 'en'])).toBe('fr')
  expect(inMail({ assessment: 'ar' }, [])).toBe('ar')
})

it('offers the reviewed languages if the organization has chosen none', () => {
  expect(onPage({ chosen: 'fr', invite: 'de' }, [])).toBe('de')
})

it("uses the assessment's first available language", () => {
  const invite = inviteWith({})
  const spoken = ['sw', 'deutsch', 'es', 'de'].map((code) => ({ language: { code } }))
  expect(chooseCandidateLanguage(languages, { ...invite, assessment: { ...invite.assessment, languages: spoken } })).toBe('es')
})

it('finds a language by its regional codes and spellings', () => {
  const found = ['pt-PT', 'pt_BR', 'de-AT', 'ar-EG', 'EN', 'zh-CN', 'deutsch', '', 'e', '*'].map((code) =>
    matchLanguage(code, CODES),
  )
  expect(found).toEqual(['pt-BR', 'pt-BR', 'de', 'ar', 'en', null, null, null, null, null])
})

it('reads Accept-Language by weight, ignoring malformed entries', () => {
  expect(readAcceptLanguage('fr;q=0.4, de-AT, en;q=0.9, ar;q=0, x;q=oops')).toEqual(['de-AT', 'en', 'fr'])
  expect(readAcceptLanguage('')).toEqual([''])
  expect(readAcceptLanguage('a,'.repeat(5_000)).length).toBeLessThanOrEqual(20)
})

it("uses a member's chosen language, else the organization's, and a stranger's browser language", () => {
  expect(chooseMemberLanguage(languages, 'fr', { language: 'de' })).toBe('fr')
  expect(chooseMemberLanguage(languages, null, { language: 'de' })).toBe('de')
  expect(chooseMemberLanguage(languages, 'ja', { language: 'ja' })).toBe('en')
  expect(chooseVisitorLanguage(languages, ['ja', 'fr', 'de'])).toBe('fr')
  expect(chooseVisitorLanguage(languages, ['ja'])).toBe('en')
})
