import type { FastifyInstance } from 'fastify'
import type { LeasedReport } from '../../domain/ats/lease-reports.ts'
import { enterOrganization, type ServiceContext } from '../../domain/context.ts'
import { ATS_SYSTEMS, type Ats, type AtsSettings } from '../../domain/ports/ats-settings.ts'
import type { Envelope } from '../../http/errors/envelope.ts'
import { writeAshbyReport } from './ashby/report.ts'
import { ashbyEnvelope, ashbyRoutes } from './ashby/routes.ts'
import { writeGreenhouseReport } from './greenhouse/report.ts'
import { greenhouseEnvelope, greenhouseRoutes } from './greenhouse/routes.ts'
import type { ReportWriter } from './kit/report.ts'
import type { AtsScope } from './kit/scope.ts'
import { writeRecruiteeReport } from './recruitee/report.ts'
import { recruiteeEnvelope, recruiteeRoutes } from './recruitee/routes.ts'

type Connector = {
  envelope: Envelope
  routes: (app: FastifyInstance, scope: AtsScope) => Promise<void>
  write: ReportWriter
}

const connectors: Record<Ats, Connector> = {
  greenhouse: { envelope: greenhouseEnvelope, routes: greenhouseRoutes, write: writeGreenhouseReport },
  ashby: { envelope: ashbyEnvelope, routes: ashbyRoutes, write: writeAshbyReport },
  recruitee: { envelope: recruiteeEnvelope, routes: recruiteeRoutes, write: writeRecruiteeReport },
}

/** Prefix of the paths of all applicant tracking systems. */
export const ATS_PREFIX = '/ats'

/** The envelopes of the systems that are switched on. */
export const atsEnvelopes = (settings: AtsSettings): Envelope[] =>
  ATS_SYSTEMS.filter((ats) => settings[ats]).map((ats) => connectors[ats].envelope)

/** The paths of the systems that are switched on; the others have none. */
export async function atsInterfaces(app: FastifyInstance, scope: AtsScope): Promise<void> {
  for (const ats of ATS_SYSTEMS) {
    const { envelope, routes } = connectors[ats]
    if (scope.system.deps.ats[ats]) await app.register((connector) => routes(connector, scope), { prefix: envelope.prefix })
  }
}

/** Writes a report in the words of its ATS. */
export function writeReport(system: ServiceContext, lease: LeasedReport): ReturnType<ReportWriter> {
  const { ats, mode, organization } = lease.connection
  return connectors[ats].write(enterOrganization(system, organization, mode), lease)
}
