import type { FastifyInstance, FastifyRequest } from 'fastify'
import { readNoticeSwitches, saveNoticeSwitches } from '../../../domain/invites/notice-switches.ts'
import { listOpenReminders } from '../../../domain/invites/reminders/plan-reminders.ts'
import {
  DEFAULT_RULE,
  deleteRule,
  includeOpenInvites,
  type RuleSettings,
  readRule,
  saveRule,
  settingsOf,
} from '../../../domain/invites/reminders/reminder-rules.ts'
import { ALWAYS_ACTIVE, type Anchor, MAX_STEPS, type RemindedState } from '../../../domain/invites/reminders/reminder-steps.ts'
import { requireAssessment } from '../../../domain/loaders/require-assessment.ts'
import { emptyForm, type Form, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { openRemindersPage, remindersPage } from './reminders.page.ts'

type Route = { Params: { assessmentId?: string } }

/** Reminders and notices: for all assessments, and for one, which may have its own rule. */
export function remindersRoutes(app: FastifyInstance): void {
  for (const address of ['/settings/reminders', '/assessments/:assessmentId/reminders']) addRoutes(app, address)
}

function addRoutes(app: FastifyInstance, address: string): void {
  app.get<Route>(address, async (request, reply) => show(request, reply, await page(request, emptyForm)))

  const addForm = (
    name: string,
    done: string,
    work: (request: FastifyRequest<Route>, values: URLSearchParams) => Promise<void>,
  ) =>
    app.post<Route>(`${address}${name}`, (request, reply) =>
      submit(request, reply, {
        page: (form) => page(request, form),
        async work(values) {
          await work(request, values)
          return `${homeOf(request)}?done=${done}`
        },
      }),
    )
  app.post<Route>(address, (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      async work(values) {
        const wasOn = (await readRule(request.ctx, idOf(request)))?.activeSince != null
        const settings = readSettings(values)
        await saveRule(request.ctx, idOf(request), settings)
        const isTurnedOn = settings.isOn && !wasOn
        const hasOpen = isTurnedOn && (await listOpenReminders(request.ctx, idOf(request))).total > 0
        return hasOpen ? `${homeOf(request)}/open` : `${homeOf(request)}?done=saved`
      },
    }),
  )
  addForm('/notices', 'saved', (request, values) =>
    saveNoticeSwitches(request.ctx, idOf(request), {
      submitted: readSwitch(values.get('submitted')),
      released: readSwitch(values.get('released')),
    }),
  )
  if (address.includes(':assessmentId'))
    addForm('/drop', 'dropped', async (request) => {
      const id = idOf(request)
      if (id !== null) await deleteRule(request.ctx, id)
    })

  app.get<Route>(`${address}/open`, async (request, reply) => show(request, reply, await openPage(request)))
  app.post<Route>(`${address}/open`, (request, reply) =>
    submit(request, reply, {
      page: () => openPage(request),
      async work(values) {
        const isSure = values.has('sure')
        if (isSure) await includeOpenInvites(request.ctx, idOf(request))
        else await readRule(request.ctx, idOf(request)) // throws if the member may not see the rule
        return isSure ? `${homeOf(request)}?done=open` : `${homeOf(request)}/open`
      },
    }),
  )
}

const idOf = ({ params }: FastifyRequest<Route>): string | null => params.assessmentId ?? null
const placeOf = (id: string | null): string => (id === null ? 'settings/reminders' : `assessments/${id}/reminders`)
const homeOf = (request: FastifyRequest<Route>): string => pathOf(request.ctx, placeOf(idOf(request)))

async function page(request: FastifyRequest<Route>, form: Form) {
  const { ctx } = request
  const id = idOf(request)
  const rule = await readRule(ctx, id)
  const isOn = rule?.activeSince != null
  return remindersPage(form, {
    ctx,
    home: homeOf(request),
    assessment: id === null ? null : { id, name: await requireAssessment(ctx, id) },
    hasRule: rule !== null,
    // An assessment without its own rule starts with the organization's.
    settings: rule || id === null ? settingsOf(rule) : { ...settingsOf(await readRule(ctx, null)), isOn: false },
    open: isOn && rule.activeSince! > ALWAYS_ACTIVE ? (await listOpenReminders(ctx, id)).total : 0,
    switches: await readNoticeSwitches(ctx, id),
    done: queryOf(request).get('done') ?? '',
  })
}

async function openPage(request: FastifyRequest<Route>) {
  const { ctx } = request
  return openRemindersPage({ ctx, home: homeOf(request), ...(await listOpenReminders(ctx, idOf(request))) })
}

/** Steps without a time are left out. */
function readSettings(values: URLSearchParams): RuleSettings {
  const numbers = Array.from({ length: MAX_STEPS }, (_, i) => i + 1)
  const { quietFrom, quietUntil } = readFields(values, 'quietFrom', 'quietUntil')
  return {
    ...DEFAULT_RULE,
    isOn: values.has('isOn'),
    quietFrom: readHours(quietFrom),
    quietUntil: readHours(quietUntil),
    onDaysOff: values.has('onDaysOff'),
    steps: numbers.flatMap((n) => {
      const after = values.get(`after${n}`) ?? ''
      if (after === '') return []
      const hours = readHours(values.get(`hours${n}`) ?? '')
      return [{ after: after as Anchor, hours, states: values.getAll(`states${n}`) as RemindedState[] }]
    }),
  }
}

const readHours = (text: string): number => (/^\d{1,6}$/.test(text.trim()) ? Number(text) : Number.NaN)
const readSwitch = (word: string | null): boolean | null =>
  word === 'on' || word === 'yes' ? true : word === 'inherit' ? null : false
