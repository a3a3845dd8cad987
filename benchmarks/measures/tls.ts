import path from 'node:path';
import type { Measure } from '../measure.ts';
import { SECURE_MODEL } from '../support/catalogue.ts';
import { makeCertificate } from '../support/certificate.ts';
import { startUpstream } from '../support/ground.ts';
import { saturate } from '../support/saturate.ts';
import { startService } from '../support/service.ts';
import { liveTargetOf } from '../support/live-target.ts';

/** What it costs the service to reach its provider over TLS, as real ones are, and not in clear. */
export const tls: Measure = {
  name: 'tls',
  title: 'Plain calls to a provider in clear and over TLS',
  isScale: true,
  run: async (bench) => {
    const { tools, directory } = bench;
    const certificate = makeCertificate(directory);
    if (certificate === undefined) {
      bench.missing('openssl, for a certificate of the provider', 'apt-get install openssl');
      return [];
    }
    const ground = await bench.ground();
    const { cores, database } = ground;
    await using started = new AsyncDisposableStack();
    const { key, cert } = certificate;
    const overTls = await startUpstream(tools, cores.upstream, ['--key', key, '--cert', cert]);
    started.defer(overTls.stop);
    const service = await startService({
      tools,
      cores: cores.gateway,
      directory: path.join(directory, 'service-over-tls'),
      databaseUrl: database.url,
      upstreamUrl: ground.upstream.ready,
      secureUpstreamUrl: overTls.ready,
      environment: { NODE_EXTRA_CA_CERTS: cert },
    });
    started.defer(service.stop);
    return await saturate(bench, ground, [
      liveTargetOf({ ...ground, name: 'clear', service }),
      liveTargetOf({ ...ground, name: 'TLS', service, model: SECURE_MODEL }),
    ]);
  },
};
