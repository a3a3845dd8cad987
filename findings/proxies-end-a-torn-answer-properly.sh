#!/usr/bin/env bash
# Two proxies give a torn answer a proper end, so nobody behind them can tell a broken stream from a whole one.
#
# Versions: Caddy 2.6.2 and HAProxy 2.6.12, of Debian 12 (caddy 2.6.2-5, haproxy 2.6.12-1+deb12u4); nginx 1.22.1 for comparison.
# Behaviour: a server sends two events of a chunked answer and closes its connection without the last chunk, as a process
#   does that is killed. RFC 9112, 8: such a message is incomplete. HAProxy over HTTP/1.1 and nginx pass that on. Caddy ends
#   the answer to its client properly, over HTTP/1.1 and HTTP/2 (it logs "aborting with incomplete response"), and HAProxy
#   does so over HTTP/2: END_STREAM, no reset. By its source, later Caddy resets such an answer (its issue 5951).
# Why it matters to a metered gateway: a client that trusts HTTP takes half an answer for a whole one, and a gateway that
#   means to tell its callers of a failure by tearing the connection tells nobody behind these proxies. Only the content can
#   say it: a last frame with the error, and the missing `[DONE]`.
# Output seen:
#   caddy HTTP 1.1: curl 0
#   caddy HTTP 2: curl 0
#   haproxy HTTP 1.1: curl 18 (the transfer is incomplete)
#   haproxy HTTP 2: curl 0
#   nginx HTTP 1.1: curl 18
#   nginx HTTP 2: curl 92 (the stream was not closed cleanly)
# Needs Debian 12 on amd64 with apt-get, dpkg, curl with HTTP/2, openssl and node. Exits 1 if any of this changes.
set -euo pipefail

folder=$(mktemp -d)
children=()
finish() {
  for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT
cd "$folder"
chmod 711 .

apt-get download -qq caddy=2.6.2-5 haproxy=2.6.12-1+deb12u4 nginx=1.22.1-9+deb12u11 \
  liblua5.3-0=5.3.6-2 libopentracing-c-wrapper0 libopentracing1 2>/dev/null
for package in *.deb; do dpkg -x "$package" root; done
export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -days 2 -keyout key.pem -out cert.pem 2>/dev/null
cat cert.pem key.pem > both.pem

cat > server.mjs <<'END'
import { createServer } from 'node:http';
createServer((request, response) => {
  if (request.url === '/up') return response.end('up');
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('data: half\n\n');
  setTimeout(() => {
    response.write('data: of an answer\n\n');
    setImmediate(() => response.socket.destroySoon());
  }, 50);
}).listen(18080, '127.0.0.1');
END
cat > Caddyfile <<END
{
	admin off
	auto_https disable_redirects
	default_sni 127.0.0.1
}
https://127.0.0.1:18441 {
	tls $folder/cert.pem $folder/key.pem
	reverse_proxy 127.0.0.1:18080
}
END
cat > haproxy.cfg <<END
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend front
  bind 127.0.0.1:18442 ssl crt $folder/both.pem alpn h2,http/1.1
  default_backend behind
backend behind
  server one 127.0.0.1:18080
END
cat > nginx.conf <<END
daemon off; pid $folder/nginx.pid; error_log stderr crit;
events {}
http {
  access_log off;
  client_body_temp_path $folder/1; proxy_temp_path $folder/2; fastcgi_temp_path $folder/3; uwsgi_temp_path $folder/4; scgi_temp_path $folder/5;
  server {
    listen 127.0.0.1:18443 ssl http2;
    ssl_certificate $folder/cert.pem; ssl_certificate_key $folder/key.pem;
    location / { proxy_pass http://127.0.0.1:18080; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }
  }
}
END

node server.mjs & children+=($!)
XDG_DATA_HOME=$folder XDG_CONFIG_HOME=$folder root/usr/bin/caddy run --config Caddyfile --adapter caddyfile 2>/dev/null & children+=($!)
root/usr/sbin/haproxy -f haproxy.cfg -db 2>/dev/null & children+=($!)
root/usr/sbin/nginx -p "$folder" -c "$folder/nginx.conf" -e stderr & children+=($!)

seen=""
for proxy in caddy:18441 haproxy:18442 nginx:18443; do
  at=https://127.0.0.1:${proxy#*:}
  curl -sk --retry 50 --retry-delay 1 --retry-connrefused -o up --max-time 60 "$at/up"
  for version in 1.1 2; do
    ended=0
    told=$(curl -skN --max-time 20 "--http$version" -o text -w '%{http_version}' "$at/") || ended=$?
    grep -q 'of an answer' text
    seen+="${proxy%:*} HTTP $told: curl $ended"$'\n'
  done
done
printf '%s' "$seen"
diff <(printf '%s' "$seen") - <<'END'
caddy HTTP 1.1: curl 0
caddy HTTP 2: curl 0
haproxy HTTP 1.1: curl 18
haproxy HTTP 2: curl 0
nginx HTTP 1.1: curl 18
nginx HTTP 2: curl 92
END
