/** Effect of an erasure on each text column, by table. `erased`: time and step that erase the columns. `nobody`: why they contain nobody. */
export type Catalogue = Record<string, { erased?: Record<string, string>; nobody?: Record<string, string> }>

export const SECRET = 'a secret, or what tells it, of the organization or of the service'
export const CODE = 'one of a few words of ours, a code, or a key of ours'
export const MACHINE = 'of the service itself'

/** Tables of the queue and of migrations. The subject of the erasure makes no difference to them. */
export const SERVICE_CATALOGUE: Catalogue = {
  'pgboss.bam': { nobody: { [MACHINE]: 'name status queue table_name command error' } },
  'pgboss.job': {
    erased: { 'mails: deleted with the mail, emptied where it names them': 'output source_output' },
    nobody: {
      'ids of ours; an address that somebody signs in by, for a minute': 'data',
      [MACHINE]: 'name singleton_key group_id group_tier dead_letter policy source_name',
    },
  },
  'pgboss.job_dependency': { nobody: { [MACHINE]: 'child_name parent_name' } },
  'pgboss.queue': { nobody: { [MACHINE]: 'name policy dead_letter table_name singletons_active' } },
  'pgboss.queue_stats': { nobody: { [MACHINE]: 'name' } },
  'pgboss.schedule': { nobody: { [MACHINE]: 'name key kind cron timezone data options' } },
  'pgboss.subscription': { nobody: { [MACHINE]: 'event name' } },
  'pgboss.warning': { nobody: { [MACHINE]: 'type message data' } },
  'public._prisma_migrations': { nobody: { [MACHINE]: 'id checksum migration_name logs' } },
  'public.secret_fingerprints': { nobody: { [SECRET]: 'fingerprint' } },
}
