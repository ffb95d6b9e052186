import type { FastifyInstance, FastifyRequest } from 'fastify'
import { countMembersWithFactor, listMembersFactors } from '../../../domain/members/members-factors.ts'
import {
  changeOrganizationSecurity,
  checkOrganizationSecurity,
  type OrganizationSecurity,
  readOrganizationSecurity,
} from '../../../domain/organization/organization-security.ts'
import { emptyForm, type Form, findSeen, readLines, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import type { FormCheck } from '../sign-in/unsent-forms.ts'
import { securityPage } from './security.page.ts'

const SHOWN_MEMBERS = 200

export function securityRoutes(app: FastifyInstance): void {
  const page = async ({ ctx, ip }: FastifyRequest, form: Form, done = '') => {
    const security = await readOrganizationSecurity(ctx)
    const [members, counts] = [await listMembersFactors(ctx, SHOWN_MEMBERS), await countMembersWithFactor(ctx)]
    return securityPage(form, { ctx, security, members, counts, done, address: ip })
  }

  app.get('/settings/security', async (request, reply) =>
    show(request, reply, await page(request, emptyForm, queryOf(request).get('done') ?? '')),
  )

  const howOf = (values: URLSearchParams) => ({ seen: findSeen(values), shutsOut: values.has('shutsOut') })
  const save = {
    page,
    check: (ctx, values) => checkOrganizationSecurity(ctx, readSecurity(values), howOf(values)),
  } satisfies FormCheck
  app.post('/settings/security', { config: { requiresRecentAuthentication: true, check: save } }, (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      async work(values) {
        await changeOrganizationSecurity(request.ctx, readSecurity(values), howOf(values))
        return `${pathOf(request.ctx, 'settings/security')}?done=saved`
      },
    }),
  )
}

/** Each section has its own form: settings without a field stay unchanged. */
function readSecurity(values: URLSearchParams): Partial<OrganizationSecurity> {
  const from = values.get('secondFactorFrom')
  const numbers = (['trustedDeviceDays', 'idleMinutes', 'sessionHours', 'auditRetentionDays'] as const).flatMap((name) =>
    values.has(name) ? [[name, Number(values.get(name) || Number.NaN)]] : [],
  )
  const apiKeyMaxDays = values.get('apiKeyMaxDays')
  const lists = (['networks', 'apiKeyNetworks'] as const).flatMap((name) =>
    values.has(name) ? [[name, readLines(values, name)]] : [],
  )
  return {
    ...(from !== null && { secondFactorFrom: from === '' ? null : new Date(`${from}T00:00:00Z`) }),
    ...Object.fromEntries(numbers),
    ...(apiKeyMaxDays !== null && { apiKeyMaxDays: apiKeyMaxDays.trim() === '' ? null : Number(apiKeyMaxDays) }),
    ...Object.fromEntries(lists),
  }
}
