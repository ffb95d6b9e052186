import { pino } from 'pino'

/** The service's log: JSON lines on standard output. Whatever might be a key, a link or a recipient's address is cut out. */
export const createLog = (level: string) =>
  pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: [
        'req',
        'res',
        'headers',
        '*.headers',
        'err.config',
        'err.meta',
        'err.clientVersion',
        'err.rejectedErrors',
        'err.rejected',
      ],
      remove: true,
    },
  })
