#!/bin/sh
# Install Debian packages, as root, without starting or enabling any service of theirs.
# Used by setup.py: install_packages.sh PACKAGE...
set -eu
export DEBIAN_FRONTEND=noninteractive

policy=/usr/sbin/policy-rc.d
clusters=/etc/postgresql-common/createcluster.d
undo() {
    [ -z "${our_policy-}" ] || rm -f "$policy"
    [ -z "${our_cluster_rule-}" ] || rm -f "$clusters/msgexchange.conf"
    rmdir "$clusters" /etc/postgresql-common 2>/dev/null || true
}
trap undo EXIT
trap 'exit 130' INT TERM HUP

apt-get -q update
if [ ! -e "$policy" ]; then   # the rule under which new packages start no service
    our_policy=1
    printf '#!/bin/sh\nexit 101\n' > "$policy"
    chmod 755 "$policy"
fi
if [ ! -e "$clusters/msgexchange.conf" ]; then   # the launcher makes its own cluster
    our_cluster_rule=1
    mkdir -p "$clusters"
    echo 'create_main_cluster = false' > "$clusters/msgexchange.conf"
fi
had_redis=$(command -v redis-server || true)
apt-get -q -y --no-install-recommends --no-remove install "$@"
if [ -z "$had_redis" ] && command -v redis-server >/dev/null && [ -d /run/systemd/system ]; then
    systemctl disable redis-server.service >/dev/null 2>&1 || true
fi
