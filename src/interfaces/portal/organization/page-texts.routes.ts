import type { FastifyInstance, FastifyRequest } from 'fastify'
import { listConsentTexts, readPageTexts, savePageTexts } from '../../../domain/brand/page-texts.ts'
import { FALLBACK_LANGUAGE } from '../../../domain/languages/choose-language.ts'
import { readLanguageSettings } from '../../../domain/members/language-settings.ts'
import { emptyForm, type Form, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { PAGE_TEXTS, pageTextsPage } from './page-texts.page.ts'

/** Links and additional consent text of an organization, per language. */
export function pageTextsRoutes(app: FastifyInstance): void {
  const page = async ({ ctx }: FastifyRequest, form: Form, query: URLSearchParams) => {
    const findLanguage = (language: string | null) => ctx.deps.languages.codes.find((code) => code === language)
    const { language: organizationLanguage, languagesOffered: offered } = await readLanguageSettings(ctx)
    const main = findLanguage(organizationLanguage) ?? FALLBACK_LANGUAGE
    const language = findLanguage(query.get('language')) ?? main
    const [words, versions] = [await readPageTexts(ctx, language), await listConsentTexts(ctx, language)]
    return pageTextsPage(form, { ctx, language, main, offered, words, versions, done: query.get('done') ?? '' })
  }

  app.get('/settings/links', async (request, reply) => show(request, reply, await page(request, emptyForm, queryOf(request))))

  app.post('/settings/links', (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form, form.values),
      async work(values) {
        const { language, ...words } = readFields(values, 'language', 'imprint', 'privacy', 'contact', 'consent')
        await savePageTexts(request.ctx, language, words, values.get('seen') ?? '')
        return `${pathOf(request.ctx, PAGE_TEXTS)}?${new URLSearchParams({ language, done: 'saved' })}`
      },
    }),
  )
}
